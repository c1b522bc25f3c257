"""What ``clankie doctor`` looks at, one file a subject. Source: OPS-9."""
