"""The commands of `kgrag lab`, each imported when it is used."""
