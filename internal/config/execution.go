package config

// Execution bounds the work. After loading, every field holds its effective
// value: flag, agent file, project and user config.yaml, environment, default.
type Execution struct {
	Block
	FileTimeout       int    `key:"file_timeout" default:"30" rule:"nullable,gt=0" doc:"Seconds to convert one file. HOLODECK_FILE_TIMEOUT."`
	LLMTimeout        int    `key:"llm_timeout" default:"60" rule:"nullable,gt=0" doc:"Seconds one model call may take and, when set, the whole turn. HOLODECK_LLM_TIMEOUT."`
	TurnTimeout       int    `key:"turn_timeout" ours:"true" default:"600" rule:"nullable,gt=0" doc:"Seconds one turn may take. HOLODECK_TURN_TIMEOUT."`
	DownloadTimeout   int    `key:"download_timeout" default:"30" rule:"nullable,gt=0" doc:"Seconds to fetch one file. HOLODECK_DOWNLOAD_TIMEOUT."`
	CacheEnabled      bool   `key:"cache_enabled" default:"true" rule:"nullable" doc:"Whether fetched files are kept. HOLODECK_CACHE_ENABLED."`
	CacheDir          string `key:"cache_dir" default:".holodeck/cache" rule:"nullable" doc:"Where, relative to the agent file. HOLODECK_CACHE_DIR."`
	Verbose           bool   `key:"verbose" default:"false" rule:"nullable" doc:"More output. HOLODECK_VERBOSE."`
	Quiet             bool   `key:"quiet" default:"false" rule:"nullable" doc:"Less output. HOLODECK_QUIET."`
	ParallelTestCases int    `key:"parallel_test_cases" default:"4" rule:"nullable,min=1" doc:"Cases that run at once. HOLODECK_PARALLEL_TEST_CASES."`
	CodeMemoryMB      int    `key:"code_memory_mb" ours:"true" default:"4096" rule:"nullable,min=0" doc:"Megabytes of memory a process of functions, graders or hook scripts may hold, where the system can bound it; 0 is no bound. HOLODECK_CODE_MEMORY_MB."`
}
