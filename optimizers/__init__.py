"""How a capability is compiled. Nothing is compiled yet."""
