"""How a capability is compiled: tasks and metrics, recipes, the gate, and the artifact that is left."""
