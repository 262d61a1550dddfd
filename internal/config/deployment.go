package config

import "github.com/holodeck-go/holodeck/internal/secret"

// Deployment is the deployment section.
type Deployment struct {
	Block
	Runtime         DeploymentRuntime        `key:"runtime" default:"container" doc:"What is built."`
	Registry        *Registry                `key:"registry" rule:"required" doc:"Where the image goes."`
	Target          *Target                  `key:"target" rule:"required" doc:"Where it runs."`
	Protocol        ServeProtocol            `key:"protocol" default:"rest" doc:"What it serves."`
	Port            int                      `key:"port" default:"8080" rule:"min=1,max=65535" doc:"Port it listens on."`
	HealthCheckPath string                   `key:"health_check_path" default:"/health" doc:"Path of the health check."`
	Environment     map[string]secret.String `key:"environment" default:"{}" rule:"hidden" doc:"Its environment."`
	Platform        string                   `key:"platform" default:"linux/amd64" doc:"Platform of the image."`
}

// DeploymentRuntime is what is built.
type DeploymentRuntime string

// Values implements the enumeration.
func (DeploymentRuntime) Values() []string { return []string{"container"} }

// ServeProtocol is what a deployed agent serves.
type ServeProtocol string

// Values implements the enumeration.
func (ServeProtocol) Values() []string { return []string{"rest", "ag-ui", "both"} }

// Registry says where an image goes.
type Registry struct {
	Block
	URL                  string      `key:"url" rule:"required" doc:"Host of the registry."`
	Repository           string      `key:"repository" rule:"required" doc:"Repository in it."`
	TagStrategy          TagStrategy `key:"tag_strategy" default:"git_sha" doc:"How the tag is chosen."`
	CustomTag            *string     `key:"custom_tag" doc:"The tag of the custom strategy."`
	CredentialsEnvPrefix *string     `key:"credentials_env_prefix" doc:"Prefix of the variables that hold the credentials."`
}

// TagStrategy is how an image tag is chosen.
type TagStrategy string

// Values implements the enumeration.
func (TagStrategy) Values() []string { return []string{"git_sha", "git_tag", "latest", "custom"} }

// Target says where a deployed agent runs.
type Target struct {
	Block
	Provider CloudProvider `key:"provider" rule:"required" doc:"Whose cloud."`
	AWS      *AWSTarget    `key:"aws" doc:"App Runner."`
	GCP      *GCPTarget    `key:"gcp" doc:"Cloud Run."`
	Azure    *AzureTarget  `key:"azure" doc:"Container Apps."`
}

// CloudProvider is whose cloud.
type CloudProvider string

// Values implements the enumeration.
func (CloudProvider) Values() []string { return []string{"aws", "gcp", "azure"} }

// AWSTarget is AWS App Runner.
type AWSTarget struct {
	Block
	Region          string  `key:"region" rule:"required" doc:"Region."`
	CPU             int     `key:"cpu" default:"1" doc:"vCPUs."`
	Memory          int     `key:"memory" default:"2048" doc:"Memory in MiB."`
	ECRRoleARN      *string `key:"ecr_role_arn" doc:"Role that reads the image."`
	HealthCheckPath string  `key:"health_check_path" default:"/health" doc:"Path of the health check."`
	AutoScalingMin  int     `key:"auto_scaling_min" default:"1" rule:"min=1,max=25" doc:"Fewest instances."`
	AutoScalingMax  int     `key:"auto_scaling_max" default:"5" rule:"min=1,max=25" doc:"Most instances."`
}

// GCPTarget is Google Cloud Run.
type GCPTarget struct {
	Block
	ProjectID    string `key:"project_id" rule:"required" doc:"Project."`
	Region       string `key:"region" default:"us-central1" doc:"Region."`
	Memory       string `key:"memory" default:"512Mi" doc:"Memory, in Mi or Gi."`
	CPU          int    `key:"cpu" default:"1" doc:"CPUs."`
	Concurrency  int    `key:"concurrency" default:"80" rule:"min=1,max=1000" doc:"Requests an instance takes at once."`
	Timeout      int    `key:"timeout" default:"300" rule:"min=1,max=3600" doc:"Seconds a request may take."`
	MinInstances int    `key:"min_instances" default:"0" rule:"min=0" doc:"Fewest instances."`
	MaxInstances int    `key:"max_instances" default:"100" rule:"min=1" doc:"Most instances."`
}

// AzureTarget is Azure Container Apps.
type AzureTarget struct {
	Block
	SubscriptionID  string  `key:"subscription_id" rule:"required" doc:"Subscription, a UUID."`
	ResourceGroup   string  `key:"resource_group" rule:"required" doc:"Resource group."`
	EnvironmentName *string `key:"environment_name" doc:"Container Apps environment."`
	Location        string  `key:"location" default:"eastus" doc:"Location."`
	CPU             float64 `key:"cpu" default:"1.0" doc:"CPUs, in quarters up to 2."`
	Memory          string  `key:"memory" default:"2Gi" doc:"Memory."`
	IngressExternal bool    `key:"ingress_external" default:"false" doc:"Whether it is reached from outside."`
	MinReplicas     int     `key:"min_replicas" default:"0" rule:"min=0" doc:"Fewest replicas."`
	MaxReplicas     int     `key:"max_replicas" default:"10" rule:"min=1" doc:"Most replicas."`
}
