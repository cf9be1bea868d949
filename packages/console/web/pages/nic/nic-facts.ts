import type { DeviceInfo } from '../../api/devices.ts'
import type { Fact } from '../../components/facts.tsx'
import { formatIn, formatQuantity, pickUnit } from '../../format/number.ts'
import { BITS_PER_SECOND, type DisplayQuantity, PAUSE_SHARE, PER_SECOND, PERCENT } from '../../format/quantity.ts'
import type { DeviceReadings } from '../device/device-readings.ts'
import { numberFact } from '../device/facts.ts'

const STATES: ReadonlyMap<number, string> = new Map([
  [1, 'down'],
  [2, 'initialising'],
  [3, 'armed'],
  [4, 'active'],
  [5, 'active, deferred'],
])
/** Metrics that rules use to detect a link that went down. */
const LINK_METRICS = ['ethtool_port_link_down_events_phy_total', 'netdev_carrier_changes_total', 'netdev_carrier']

/** The facts of a NIC port: link, traffic and losses. */
export function nicFacts({ limits }: DeviceInfo, { last, mean, judge }: DeviceReadings): readonly Fact[] {
  const sent = mean('rdma_port_xmit_data_bytes_total', 'rate')
  const received = mean('rdma_port_rcv_data_bytes_total', 'rate')
  const bus = Math.max(...['doca_pci_tx_bytes', 'doca_pci_rx_bytes'].map((metric) => mean(metric, 'rate').value))
  const bandwidth =
    last('pci_device_current_link_bandwidth_bytes_per_second') || (limits.pcie_bytes_per_s ?? Number.NaN)
  const measured = (label: string, quantity: DisplayQuantity, metric: string, caption: string): Fact =>
    judge(numberFact(label, quantity, mean(metric, 'rate'), caption), metric)
  return [
    judge(linkFact(last('rdma_port_state'), last('rdma_port_rate_bytes_per_second')), ...LINK_METRICS),
    numberFact('Sent', BITS_PER_SECOND, sent, packetWords(mean('rdma_port_xmit_packets_total', 'rate').value)),
    numberFact('Received', BITS_PER_SECOND, received, packetWords(mean('rdma_port_rcv_packets_total', 'rate').value)),
    measured('Sequence errors', PER_SECOND, 'rdma_hw_packet_seq_err_total', 'packets lost on the way'),
    measured('Retransmissions', PER_SECOND, 'rdma_hw_roce_adp_retrans_total', 'adaptive'),
    measured('Paused by others', PAUSE_SHARE, 'ethtool_priority_rx_pause_seconds_total', 'the worst priority'),
    judge(
      numberFact('PCIe in use', PERCENT, bus / bandwidth, 'of the link as it runs'),
      'pci_device_current_link_bandwidth_bytes_per_second',
    ),
  ]
}

function linkFact(state: number, rate: number): Fact {
  const unit = pickUnit(BITS_PER_SECOND, Number.isNaN(rate) ? 0 : rate)
  const word = STATES.get(state) ?? 'state not reported'
  return {
    label: 'Link',
    value: formatIn(unit, rate),
    ...(Number.isNaN(rate) ? {} : { unit: unit.label }),
    caption: word,
  }
}

function packetWords(rate: number): string {
  return Number.isNaN(rate) ? '' : `${formatQuantity(PER_SECOND, rate)} packets`
}
