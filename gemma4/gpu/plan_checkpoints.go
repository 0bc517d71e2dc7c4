package gpu

// planCheckpoints sets aside memory for as many as a session wants and may have.
func (p *planner) planCheckpoints(weights int64) {
	n := p.sizing.checkpoints(p.model.Config, weights)
	p.plan.Checkpoints = int64(min(n, p.checkpoints)) * p.sizing.checkpointBytes(p.model.Config)
}

// checkpointsThatFit is how many leave the rest of the plan within the budget.
func (p *planner) checkpointsThatFit() int {
	free := p.plan.Budget - (p.plan.Total() - p.plan.Checkpoints)
	return int(max(free, 0) / p.sizing.checkpointBytes(p.model.Config))
}

// takeSpare takes checkpoints back where there is room for them after all: a table that was
// left in the file may be larger than what was missing.
func (p *planner) takeSpare() error {
	if p.plan.Budget == 0 || p.sizing.checkpointBytes(p.model.Config) == 0 {
		return nil
	}
	before := p.checkpoints
	if p.checkpoints = p.checkpointsThatFit(); p.checkpoints <= before {
		p.checkpoints = before
		return nil
	}
	return p.dryRun()
}

// shedCheckpoints plans fewer of them, as far as there would be no room for bytes beside the
// plan. There are no sessions yet.
func (e *Engine) shedCheckpoints(bytes int64) {
	p := e.plan
	over := p.Total() + bytes - p.Budget
	if p.Budget == 0 || over <= 0 || p.Checkpoints == 0 {
		return
	}
	each := e.sizing(p.Context).checkpointBytes(e.model.Config)
	p.Checkpoints = max(p.Checkpoints-(over+each-1)/each*each, 0)
}
