import { defineType, gauge, label, optional, text, timestamp } from '@sonde/sdk'

/** How one interface treats priorities: what `dcb pfc`, `dcb app` and `dcb apptrust` show. */
export const dcbPortType = defineType(
  'dcb_port',
  'Quality of service of one network interface',
  {
    time: timestamp(),
    device: label('Name of the interface'),
    pfc_mask: optional(
      gauge('u8', { help: 'Priorities with priority flow control: bit 3 is set if priority 3 has it' }),
    ),
    default_priority: optional(gauge('u8', { help: 'Priority of packets that no other rule gives one' })),
    trust: optional(
      text({ help: 'Parts of a packet that decide its priority, most trusted first: dscp, pcp and others; or none' }),
    ),
    dscp_priorities: optional(
      text({ help: 'Priorities by DSCP, such as 26:3 or 0-7:0 48:6; none if no DSCP has a priority' }),
    ),
  },
  { entity: { kind: 'netdev', key: ['device'] }, core: ['pfc_mask'] },
)
