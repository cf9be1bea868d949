import type { MetricQuery } from '@sonde/sdk/api'
import { LINK_QUERIES, NIC_QUERIES } from '../../devices/signals.ts'
import { BITS_PER_SECOND, type DisplayQuantity, PAUSE_SHARE, PER_SECOND, PERCENT } from '../../format/quantity.ts'

const rate = (metric: string): MetricQuery => ({ metric, function: 'rate' })
const last = (metric: string): MetricQuery => ({ metric, function: 'last' })

const BUS_ERRORS: MetricQuery = {
  ...rate('pci_device_aer_messages_total'),
  matchers: [{ label: 'severity', op: '=', value: 'correctable' }],
}

/** A signal of a port: its query and the title of its chart. */
export interface PortSignalInfo {
  readonly query: MetricQuery
  readonly title: string
  /** Explanation, if the title needs it. */
  readonly caption?: string
  readonly quantity: DisplayQuantity
}

const perSecond = (query: MetricQuery, title: string, caption?: string): PortSignalInfo => ({
  query,
  title,
  quantity: PER_SECOND,
  ...(caption ? { caption } : {}),
})
const share = (query: MetricQuery, title: string, caption: string, quantity = PERCENT): PortSignalInfo => ({
  query,
  title,
  quantity,
  caption,
})

/** Every signal of a port that has a chart. */
export const PORT_SIGNALS = {
  sent: { query: NIC_QUERIES.sent, title: 'Sent', quantity: BITS_PER_SECOND },
  received: { query: NIC_QUERIES.received, title: 'Received', quantity: BITS_PER_SECOND },
  waits: perSecond(rate('rdma_port_xmit_wait_ticks_total'), 'Waiting to send', 'clock ticks without credit'),
  paused: share(NIC_QUERIES.paused, 'Paused by the fabric', 'worst priority', PAUSE_SHARE),
  pausing: share(NIC_QUERIES.pausing, 'Pausing the fabric', 'worst priority', PAUSE_SHARE),
  noBuffer: perSecond(rate('rdma_hw_out_of_buffer_total'), 'No receive request', 'dropped'),
  marked: perSecond(rate('rdma_hw_np_ecn_marked_roce_packets_total'), 'ECN marked', 'packets'),
  notified: perSecond(rate('rdma_hw_np_cnp_sent_total'), 'CNP sent'),
  slowed: perSecond(rate('rdma_hw_rp_cnp_handled_total'), 'CNP handled'),
  sequenceErrors: perSecond(NIC_QUERIES.sequenceErrors, 'Sequence errors', 'lost packets'),
  retransmissions: perSecond(NIC_QUERIES.retransmissions, 'Adaptive retransmissions'),
  timeouts: perSecond(NIC_QUERIES.timeouts, 'Acknowledgement timeouts'),
  outOfSequence: perSecond(rate('rdma_hw_out_of_sequence_total'), 'Out of order', 'packets'),
  duplicates: perSecond(rate('rdma_hw_duplicate_request_total'), 'Duplicate requests'),
  discards: perSecond(NIC_QUERIES.discards, 'Discards', 'packets'),
  symbolErrors: perSecond(rate('ethtool_port_rx_pcs_symbol_err_phy_total'), 'Symbol errors', 'beyond correction'),
  checksumErrors: perSecond(NIC_QUERIES.checksumErrors, 'Checksum errors', 'packets'),
  corrected: perSecond(rate('ethtool_port_rx_corrected_bit_errors_phy_total'), 'Corrected bits', 'always some'),
  stalledWrites: share(last('ethtool_port_outbound_pci_stalled_wr_ratio'), 'PCIe writes stalled', 'of a second'),
  stalledReads: share(last('ethtool_port_outbound_pci_stalled_rd_ratio'), 'PCIe reads stalled', 'of a second'),
  busErrors: perSecond(BUS_ERRORS, 'PCIe errors', 'corrected'),
} as const satisfies Record<string, PortSignalInfo>

/** Queries on the state of the link and its changes, without charts. */
export const PORT_LINK_QUERIES = {
  state: NIC_QUERIES.state,
  lineRate: NIC_QUERIES.lineRate,
  lanes: last('rdma_port_width_lanes'),
  linkDowns: { metric: 'ethtool_port_link_down_events_phy_total', function: 'increase' },
  portDowns: { metric: 'rdma_port_link_downed_total', function: 'increase' },
  portSymbolErrors: NIC_QUERIES.symbolErrors,
  ...LINK_QUERIES,
} as const satisfies Record<string, MetricQuery>

/** A signal with a chart. */
export type PortSignal = keyof typeof PORT_SIGNALS

/** Name of any query about a port. */
export type PortColumn = PortSignal | keyof typeof PORT_LINK_QUERIES

/** Every query by name. */
export const PORT_QUERIES: Readonly<Record<PortColumn, MetricQuery>> = {
  ...(Object.fromEntries(Object.entries(PORT_SIGNALS).map(([name, { query }]) => [name, query])) as Record<
    PortSignal,
    MetricQuery
  >),
  ...PORT_LINK_QUERIES,
}

/** The charts of the page by section. */
export const PORT_SECTIONS: readonly { readonly title: string; readonly signals: readonly PortSignal[] }[] = [
  { title: 'Traffic', signals: ['sent', 'received', 'waits'] },
  { title: 'Congestion', signals: ['paused', 'pausing', 'noBuffer', 'marked', 'notified', 'slowed'] },
  {
    title: 'Loss',
    signals: ['sequenceErrors', 'retransmissions', 'timeouts', 'outOfSequence', 'duplicates', 'discards'],
  },
  { title: 'Link', signals: ['symbolErrors', 'checksumErrors', 'corrected'] },
  { title: 'PCIe', signals: ['stalledWrites', 'stalledReads', 'busErrors'] },
]
