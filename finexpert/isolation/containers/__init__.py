"""The rung of a container engine: Docker or Podman, and the image that it runs."""
