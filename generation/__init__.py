"""The material: data, knowledge graphs, setups, responses."""
