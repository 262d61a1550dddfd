package config

import (
	"fmt"
	"math"
	"regexp"
	"strings"
)

// format is the shape a text must have.
type format struct {
	pattern string // RE2
	what    string // what it is, with an example
}

// The formats of the deployment section.
var (
	uuidFormat       = format{`^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$`, "a UUID, such as 00000000-0000-0000-0000-000000000000"}
	repositoryFormat = format{`^[a-z0-9]([a-z0-9._/-]*[a-z0-9])?$`, "a repository: lower-case letters, digits and . _ / -, with a letter or digit at both ends"}
	roleFormat       = format{`^arn:aws[a-z-]*:iam::[0-9]{12}:role/.+$`, "the ARN of a role, such as arn:aws:iam::123456789012:role/name"}
	projectFormat    = format{`^[a-z][a-z0-9-]{4,28}[a-z0-9]$`, "a project id: 6 to 30 lower-case letters, digits and hyphens, a letter first"}
	memoryFormat     = format{`^[0-9]+(Mi|Gi)$`, "an amount of memory, such as 512Mi or 2Gi"}
)

// format reports a text that has not the shape it needs.
func (c *checker) format(b Block, key, value string, f format) {
	if b.known(key) && value != "" && !regexp.MustCompile(f.pattern).MatchString(value) {
		c.fail(b, key, CodeValue, fmt.Sprintf("%q is not %s", value, f.what), "")
	}
}

// deployment checks the deployment section.
func (c *checker) deployment() {
	d := c.agent.Deployment
	if d == nil {
		return
	}
	if r := d.Registry; r != nil {
		c.format(r.Block, "repository", r.Repository, repositoryFormat)
		switch {
		case r.TagStrategy == "custom" && (!r.Wrote("custom_tag") || r.CustomTag != nil && strings.TrimSpace(*r.CustomTag) == ""):
			c.fail(r.Block, "custom_tag", CodeMissing, "is required with tag_strategy custom", "")
		case r.TagStrategy != "custom" && r.TagStrategy != "":
			c.idle(r.Block, "it is for tag_strategy custom", "custom_tag")
		}
	}
	if t := d.Target; t != nil {
		c.target(t)
	}
}

// target checks where a deployment runs.
func (c *checker) target(t *Target) {
	if t.Provider != "" {
		for _, name := range t.Provider.Values() {
			switch {
			case name == string(t.Provider) && !t.Wrote(name):
				c.fail(t.Block, name, CodeMissing, "is required with provider "+name, "")
			case name != string(t.Provider) && t.Wrote(name):
				c.fail(t.Block, name, CodeConflict, fmt.Sprintf("is given, and the provider is %s", t.Provider), "remove it")
			}
		}
	}
	if a := t.Azure; a != nil {
		c.format(a.Block, "subscription_id", a.SubscriptionID, uuidFormat)
		if quarters := a.CPU * 4; a.known("cpu") && (a.CPU < 0.25 || a.CPU > 2 || quarters != math.Trunc(quarters)) {
			c.fail(a.Block, "cpu", CodeValue, fmt.Sprintf("%v is not a multiple of 0.25 between 0.25 and 2", a.CPU), "")
		}
		if a.MinReplicas > a.MaxReplicas && a.MaxReplicas > 0 {
			c.fail(a.Block, "min_replicas", CodeConflict, fmt.Sprintf("%d is more than max_replicas, which is %d", a.MinReplicas, a.MaxReplicas), "")
		}
	}
	if a := t.AWS; a != nil {
		if a.ECRRoleARN != nil {
			c.format(a.Block, "ecr_role_arn", *a.ECRRoleARN, roleFormat)
		}
		if a.AutoScalingMin > a.AutoScalingMax && a.AutoScalingMax > 0 {
			c.fail(a.Block, "auto_scaling_min", CodeConflict, fmt.Sprintf("%d is more than auto_scaling_max, which is %d", a.AutoScalingMin, a.AutoScalingMax), "")
		}
	}
	if g := t.GCP; g != nil {
		c.format(g.Block, "project_id", g.ProjectID, projectFormat)
		c.format(g.Block, "memory", g.Memory, memoryFormat)
		if g.MinInstances > g.MaxInstances && g.MaxInstances > 0 {
			c.fail(g.Block, "min_instances", CodeConflict, fmt.Sprintf("%d is more than max_instances, which is %d", g.MinInstances, g.MaxInstances), "")
		}
	}
}
