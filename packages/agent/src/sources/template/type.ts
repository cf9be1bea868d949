import { defineType, gauge, optional, timestamp } from '@sonde/sdk'

/** Open files of the node. A type starts with its time, then come its labels (none here), counters and gauges. */
export const openFilesType = defineType('open_files', 'Open files of the node', {
  time: timestamp(),
  allocated: gauge('u64', { help: 'File handles in use' }),
  limit: optional(gauge('u64', { help: 'File handles that the kernel gives out at most' })),
})
