import type { DeviceInfo } from '../../api/devices.ts'
import type { Fact } from '../../components/facts.tsx'
import { formatIn, formatQuantity, pickUnit } from '../../format/number.ts'
import { BITS_PER_SECOND, PAUSE_SHARE, PER_SECOND, PERCENT, type Quantity } from '../../format/quantity.ts'
import type { DeviceReadings } from '../device/device-page.tsx'
import { numberFact } from '../device/facts.ts'

const STATES: ReadonlyMap<number, string> = new Map([
  [1, 'down'],
  [2, 'initialising'],
  [3, 'armed'],
  [4, 'active'],
  [5, 'active, deferred'],
])
/** States of a port from this one on carry traffic. */
const ACTIVE = 4

/** The strip of facts of a NIC port: its link, what passes it, and what it loses. */
export function nicFacts({ limits }: DeviceInfo, { newest, mean }: DeviceReadings): readonly Fact[] {
  const sent = mean('rdma_port_xmit_data_bytes_total', 'rate')
  const received = mean('rdma_port_rcv_data_bytes_total', 'rate')
  const bus = Math.max(
    ...['doca_diag_pci_outbound_bytes_total', 'doca_diag_pci_inbound_bytes_total'].map((metric) =>
      mean(metric, 'rate'),
    ),
  )
  const bandwidth = newest('pci_device_current_link_bandwidth_bytes') || (limits.pcie_bytes_per_s ?? Number.NaN)
  const errors = (label: string, metric: string, caption: string): Fact =>
    troubled(label, PER_SECOND, mean(metric, 'rate'), caption, 0)
  return [
    linkFact(newest('rdma_port_state'), newest('rdma_port_rate_bytes')),
    numberFact('Sent', BITS_PER_SECOND, sent, packetWords(mean('rdma_port_xmit_packets_total', 'rate'))),
    numberFact('Received', BITS_PER_SECOND, received, packetWords(mean('rdma_port_rcv_packets_total', 'rate'))),
    errors('Sequence errors', 'rdma_hw_packet_seq_err_total', 'packets lost on the way'),
    errors('Retransmissions', 'rdma_hw_roce_adp_retrans_total', 'adaptive'),
    troubled(
      'Paused by others',
      PAUSE_SHARE,
      mean('ethtool_priority_rx_pause_seconds_total', 'rate'),
      'the worst priority',
      0.05,
    ),
    numberFact('PCIe in use', PERCENT, bus / bandwidth, 'of the link as it runs'),
  ]
}

function troubled(label: string, quantity: Quantity, raw: number, caption: string, above: number): Fact {
  const fact = numberFact(label, quantity, raw, caption)
  return raw > above ? { ...fact, tone: 'warning' } : fact
}

function linkFact(state: number, rate: number): Fact {
  const unit = pickUnit(BITS_PER_SECOND, Number.isNaN(rate) ? 0 : rate)
  const word = STATES.get(state) ?? 'state not told'
  return {
    label: 'Link',
    value: formatIn(unit, rate),
    ...(Number.isNaN(rate) ? {} : { unit: unit.label }),
    caption: word,
    ...(state < ACTIVE ? { tone: 'critical' as const } : {}),
  }
}

function packetWords(rate: number): string {
  return Number.isNaN(rate) ? '' : `${formatQuantity(PER_SECOND, rate)} packets`
}
