import { defineType, type Field, gauge, label, type RecordType, timestamp } from '@sonde/sdk'
import { dcbPortType } from '../sources/dcb/type.ts'
import { docaDpaProcessType } from '../sources/doca-telemetry-dpa/type.ts'
import { docaPccType } from '../sources/doca-telemetry-pcc/type.ts'
import { docaPhyType } from '../sources/doca-telemetry-phy/type.ts'
import { ethtoolLinkType } from '../sources/ethtool/type.ts'
import { hostKernelType, hostMachineType } from '../sources/host/type.ts'
import { nvmlGpuInfoType } from '../sources/nvml/type.ts'
import { podNicType } from '../sources/pod-nics/type.ts'
import { podInfoType, podNicDeviceType } from '../sources/pods/type.ts'
import { rdmaPortType } from '../sources/rdma/type.ts'

/** A text field, and the name of its label. */
export interface InfoText {
  readonly field: string
  readonly label: string
}

/** An info metric: always 1, with the labels of a series and some of its texts as labels. */
export interface InfoMetric {
  /** The type whose records have the texts. */
  readonly from: RecordType
  /** Text fields that become labels. */
  readonly texts: readonly InfoText[]
  readonly type: RecordType
}

/** Where a NIC of a pod is, and whose its counters are. */
const NIC_TEXTS = ['pci_address', 'physical_function', 'host_interface', 'no_counters']

/**
 * The info metrics. Texts that change often, such as lists of interfaces, are left out: each change is a new series.
 */
export const INFO_METRICS: readonly InfoMetric[] = [
  infoMetric(nvmlGpuInfoType, ['serial', 'driver', 'vbios']),
  infoMetric(podInfoType, ['app', 'service', 'node_name']),
  infoMetric(podNicType, ['driver', ...NIC_TEXTS]),
  infoMetric(podNicDeviceType, NIC_TEXTS),
  infoMetric(rdmaPortType, ['link_layer', 'driver', 'firmware', 'model', 'board', 'node_guid'], {
    address: 'pci_address',
  }),
  infoMetric(ethtoolLinkType, ['driver', 'driver_version', 'firmware'], { address: 'bus_info' }),
  infoMetric(dcbPortType, ['trust', 'dscp_priorities']),
  infoMetric(docaPhyType, ['vendor', 'part_number', 'serial', 'fec']),
  infoMetric(docaPccType, ['algorithm']),
  infoMetric(docaDpaProcessType, ['name']),
  infoMetric(hostKernelType, ['release']),
  infoMetric(hostMachineType, [
    ...['os', 'cpu_model', 'vendor', 'product', 'board'],
    ...['firmware_version', 'firmware_date'],
  ]),
]

/** The type `<stem>_identity` with the metric `<stem>_info`; the stem is the name of the type without `_info`. */
function infoMetric(
  from: RecordType,
  same: readonly string[],
  renamed: Readonly<Record<string, string>> = {},
): InfoMetric {
  const stem = from.name.replace(/_info$/, '')
  const labels = from.labels.map(({ name, field }) => [name, field] as const)
  const texts = [
    ...same.map((name) => ({ field: name, label: name })),
    ...Object.entries(renamed).map(([field, name]) => ({ field, label: name })),
  ]
  const ofTexts = texts.map(({ field, label: name }) => [name, label(slotHelp(from, field))] as const)
  const type = defineType(
    `${stem}_identity`,
    'Texts as labels of a metric that is always 1, for joins',
    {
      time: timestamp(),
      ...(Object.fromEntries([...labels, ...ofTexts]) as Record<string, Field>),
      info: gauge('u8', { metric: `${stem}_info`, help: 'Always 1; its labels are the facts' }),
    },
    from.entity === undefined ? {} : { entity: entityOf(from.entity) },
  )
  return { from, texts, type }
}

/** The same entity. The type of the texts proves that it exists, and joins it. */
function entityOf({ kind, key, host }: NonNullable<RecordType['entity']>): NonNullable<RecordType['entity']> {
  return host === undefined ? { kind, key } : { kind, key, host }
}

function slotHelp(from: RecordType, name: string): string {
  const slot = from.layout.slots.find((one) => one.name === name && one.field.kind === 'symbol')
  if (slot === undefined) throw new Error(`type ${from.name} has no text ${name}`)
  return slot.field.help ?? ''
}
