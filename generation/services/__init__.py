"""Every write to the material: datasets, graphs, setups and responses; and what makes them."""
