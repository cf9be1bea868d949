import type { Fact } from '../../components/facts.tsx'
import { ABSENT } from '../../format/number.ts'
import { BITS_PER_SECOND, COUNT, type DisplayQuantity, PAUSE_SHARE, PER_SECOND } from '../../format/quantity.ts'
import type { DeviceReadings } from '../device/device-readings.ts'
import { last, rate } from '../device/lines.ts'
import type { DevicePanel } from '../device/panel.ts'
import type { DeviceSection } from '../device/panel-sections.tsx'
import { hardware, NO_DRIVER, NO_RDMA } from './nic-lines.ts'

const ALGORITHM = ['slot', 'counter'] as const
const NO_ALGORITHM = 'No source reads the counters of a congestion-control algorithm on this NIC.'

/** Marks, notifications, the algorithm that handles them, and pauses. */
export function congestionSection(): DeviceSection {
  return {
    id: 'congestion',
    title: 'Congestion',
    facts: algorithmFacts,
    panels: [
      {
        id: 'congestion',
        title: 'Congestion',
        quantity: PER_SECOND,
        lines: [
          rate(hardware('np_ecn_marked_roce_packets'), 'ECN marked'),
          rate(hardware('rp_cnp_handled'), 'CNP handled'),
          rate(hardware('np_cnp_sent'), 'CNP sent'),
          rate(hardware('rp_cnp_ignored'), 'CNP ignored'),
          rate('doca_diag_port_ecn_marked_packets_total', 'ECN marked'),
          rate('doca_diag_port_cnp_handled_packets_total', 'CNP handled'),
          rate('doca_diag_port_cnp_sent_packets_total', 'CNP sent'),
          rate('doca_diag_congestion_deschedules_total', 'rate limited'),
        ],
        without: NO_RDMA,
      },
      {
        id: 'pcc',
        title: 'Programmable congestion control',
        quantity: PER_SECOND,
        lines: [{ ...rate('doca_pcc_events_total', ''), each: ALGORITHM }],
        without: NO_ALGORITHM,
      },
      {
        id: 'pcc-values',
        title: 'PCC',
        caption: 'unit of the algorithm',
        quantity: COUNT,
        isApart: true,
        lines: [{ ...last('doca_pcc_value', ''), each: ALGORITHM }],
        without: NO_ALGORITHM,
      },
      ...priorities(),
    ],
  }
}

/** A fact for each congestion-control algorithm. */
function algorithmFacts({ infos, all }: DeviceReadings): readonly Fact[] {
  return infos('doca_pcc_info').map(({ slot = '', algorithm = '' }) => {
    const read = (name: string): number => {
      const { values } = all(`doca_pcc_${name}`).find(({ labels }) => labels.slot === slot) ?? {}
      return values?.findLast((value) => !Number.isNaN(value)) ?? Number.NaN
    }
    const [major, minor, enabled] = [read('version_major'), read('version_minor'), read('enabled')]
    const version = Number.isNaN(major) ? '' : `version ${major}.${minor}`
    return {
      label: `Algorithm in slot ${slot}`,
      value: Number.isNaN(enabled) ? ABSENT : enabled > 0 ? 'enabled' : 'disabled',
      caption: [algorithm, version, read('counters_enabled') === 0 ? 'its counters are off' : '']
        .filter(Boolean)
        .join(', '),
    }
  })
}

/** Small multiples: a lane per priority, all with the same scale. */
function priorities(): readonly DevicePanel[] {
  const panel = (id: string, title: string, field: string, quantity: DisplayQuantity): DevicePanel => ({
    id,
    title,
    caption: 'by priority',
    quantity,
    scale: 'lanes',
    slots: [1],
    lines: [{ ...rate(`ethtool_priority_${field}_total`, 'p{}'), each: 'priority' }],
    without: NO_DRIVER,
  })
  return [
    panel('paused', 'Paused by others', 'rx_pause_seconds', PAUSE_SHARE),
    panel('pausing', 'Pausing others', 'tx_pause_seconds', PAUSE_SHARE),
    panel('priorities', 'Sent', 'tx_bytes', BITS_PER_SECOND),
  ]
}
