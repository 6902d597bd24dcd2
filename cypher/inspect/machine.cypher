// The machine of the server, in a cluster of the leader: memory in bytes, and files that its process holds open.
// mode: schema
// -> memory: INTEGER - memory of the machine, or of its container
// -> files: INTEGER - files and connections that are open
// -> most_files: INTEGER - as many as may be
CALL dbms.queryJmx('java.lang:type=OperatingSystem') YIELD attributes
RETURN attributes.TotalMemorySize.value AS memory, attributes.OpenFileDescriptorCount.value AS files,
       attributes.MaxFileDescriptorCount.value AS most_files
