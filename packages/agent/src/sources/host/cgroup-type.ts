import { defineType, gauge, label, optional, timestamp } from '@sonde/sdk'

const entity = { kind: 'host', key: [] }

/** One of the control groups whose tasks wait most. */
export const hostCgroupPressureType = defineType(
  'host_cgroup_pressure',
  'Pressure of one of the control groups that wait most',
  {
    time: timestamp(),
    resource: label('cpu, memory or io'),
    cgroup: label('Path of the control group'),
    owner: label('Pod, container, unit, job or user behind it, as far as the path proves one; else empty'),
    waiting_ratio: gauge('f64', {
      unit: 'ratio',
      help: 'Share of the last 10 seconds in which at least one of its tasks waited for the resource',
    }),
    stalled_ratio: optional(
      gauge('f64', { unit: 'ratio', help: 'Share of the last 10 seconds in which all its tasks waited' }),
    ),
  },
  { entity, core: [] },
)

/** How many control groups the search for pressure saw. */
export const hostCgroupsType = defineType(
  'host_cgroups',
  'Control groups that were searched for pressure',
  {
    time: timestamp(),
    groups_read: gauge('u64', { help: 'Control groups whose pressure was read in the last search' }),
    groups_skipped: gauge('u64', { help: 'Control groups that a limit left out of it, although their parent waits' }),
  },
  { entity, core: [] },
)
