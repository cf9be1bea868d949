import type { DeviceInfo } from '../../api/devices.ts'
import {
  BIT_ERROR_RATIO,
  BITS_PER_SECOND,
  BYTES_PER_SECOND,
  CELSIUS,
  type DisplayQuantity,
  PAUSE_SHARE,
  PER_SECOND,
  PERCENT,
  UP_OR_DOWN,
} from '../../format/quantity.ts'
import { last, rate } from '../device/lines.ts'
import type { DevicePanel } from '../device/panels.ts'

const port = (name: string): string => `rdma_port_${name}_total`
const hardware = (name: string): string => `rdma_hw_${name}_total`
const driver = (name: string): string => `ethtool_port_${name}_total`

const NO_RDMA = 'No source reads RDMA counters of this port.'
const NO_DRIVER = 'The driver of this port tells no such statistics.'

/** Lowest state of an RDMA port that carries traffic. */
const ACTIVE_MIN = 4
/** The physical state of a link that is up. */
const LINK_UP = 5

/** The panels of a NIC port. */
export function nicPanels({ limits }: DeviceInfo): readonly DevicePanel[] {
  return [
    ...traffic(),
    ...loss(),
    ...congestion(),
    ...priorities(),
    ...link(),
    ...bus(limits.pcie_bytes_per_s),
    ...accelerator(),
  ]
}

function traffic(): readonly DevicePanel[] {
  return [
    {
      id: 'throughput',
      title: 'Throughput',
      quantity: BITS_PER_SECOND,
      slots: [1, 2],
      lines: [rate(port('xmit_data_bytes'), 'sent'), rate(port('rcv_data_bytes'), 'received')],
      limits: [{ label: 'link', metric: 'rdma_port_rate_bytes_per_second' }],
      without: NO_RDMA,
    },
    {
      id: 'packets',
      title: 'Packets',
      quantity: PER_SECOND,
      slots: [1, 2],
      lines: [rate(port('xmit_packets'), 'sent'), rate(port('rcv_packets'), 'received')],
      without: NO_RDMA,
    },
    {
      id: 'requests',
      title: 'RDMA requests received',
      quantity: PER_SECOND,
      lines: [
        rate(hardware('rx_write_requests'), 'write'),
        rate(hardware('rx_read_requests'), 'read'),
        rate(hardware('rx_atomic_requests'), 'atomic'),
      ],
      without: NO_RDMA,
    },
  ]
}

function loss(): readonly DevicePanel[] {
  return [
    {
      id: 'loss',
      title: 'Loss',
      quantity: PER_SECOND,
      scale: 'lanes',
      slots: [1],
      lines: [
        rate(hardware('packet_seq_err'), 'sequence errors'),
        rate(hardware('out_of_sequence'), 'out of order'),
        rate(hardware('duplicate_request'), 'duplicates'),
        rate(hardware('rnr_nak_retry_err'), 'not ready'),
      ],
      without: NO_RDMA,
    },
    {
      id: 'retransmissions',
      title: 'Retransmissions',
      quantity: PER_SECOND,
      scale: 'lanes',
      slots: [1],
      lines: [
        rate(hardware('roce_adp_retrans'), 'adaptive'),
        rate(hardware('local_ack_timeout_err'), 'timeouts'),
        rate('doca_adp_retx_packets', 'adaptive, by the adapter'),
      ],
      without: NO_RDMA,
    },
    {
      id: 'timeouts',
      title: 'Timeouts of adaptive retransmission',
      caption: 'by duration',
      quantity: PER_SECOND,
      scale: 'heat',
      lines: [rate('doca_adp_retx_timeout_seconds', 'timeouts')],
      without: 'No source reads the timeouts of adaptive retransmission of this NIC.',
    },
  ]
}

function congestion(): readonly DevicePanel[] {
  return [
    {
      id: 'congestion',
      title: 'Congestion',
      quantity: PER_SECOND,
      lines: [
        rate(hardware('np_ecn_marked_roce_packets'), 'ECN marked'),
        rate(hardware('rp_cnp_handled'), 'CNP handled'),
        rate(hardware('np_cnp_sent'), 'CNP sent'),
        rate(hardware('rp_cnp_ignored'), 'CNP ignored'),
      ],
      without: NO_RDMA,
    },
    {
      id: 'pcc',
      title: 'Programmable congestion control',
      quantity: PER_SECOND,
      lines: [{ ...rate('doca_pcc_events_total', ''), each: 'counter' }],
      without: 'No source reads the counters of a congestion-control algorithm on this NIC.',
    },
  ]
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

function link(): readonly DevicePanel[] {
  return [
    {
      id: 'corrected',
      title: 'Corrected bits',
      caption: 'a healthy link has some',
      quantity: PER_SECOND,
      lines: [rate(driver('rx_corrected_bit_errors_phy'), 'corrected')],
      without: NO_DRIVER,
    },
    {
      id: 'lanes',
      title: 'Bit errors by lane',
      caption: 'before correction',
      quantity: PER_SECOND,
      lines: [{ ...rate('ethtool_lane_rx_err_phy_total', 'lane'), each: 'lane' }],
      without: NO_DRIVER,
    },
    {
      id: 'symbols',
      title: 'Link errors',
      caption: 'after correction',
      quantity: PER_SECOND,
      scale: 'lanes',
      slots: [1],
      lines: [
        rate(driver('rx_pcs_symbol_err_phy'), 'symbols'),
        rate(driver('rx_crc_errors_phy'), 'checksum'),
        rate(port('symbol_error'), 'minor'),
        rate('doca_phy_effective_errors_total', 'effective'),
      ],
      without: NO_DRIVER,
    },
    {
      id: 'errors',
      title: 'Bit error rate',
      caption: 'wrong bits among all',
      quantity: BIT_ERROR_RATIO,
      scale: 'log',
      lines: [
        last('doca_phy_raw_bit_error_ratio', 'before correction'),
        last('doca_phy_effective_bit_error_ratio', 'after correction'),
        last('doca_phy_symbol_error_ratio', 'symbols'),
      ],
      without: 'No source reads the bit error rates of this port; they come from the adapter, not from its driver.',
    },
    {
      id: 'state',
      title: 'Link',
      quantity: UP_OR_DOWN,
      scale: 'lanes',
      slots: [1],
      lines: [
        { ...last('rdma_port_state', 'RDMA port'), isUp: (state) => state >= ACTIVE_MIN },
        { ...last('rdma_port_phys_state', 'physical'), isUp: (state) => state === LINK_UP },
        last('ethtool_link_detected', 'carrier'),
        last('doca_phy_link_up', 'adapter'),
      ],
      without: NO_RDMA,
    },
    {
      id: 'module',
      title: 'Module',
      quantity: CELSIUS,
      lines: [last('doca_phy_temperature_celsius', 'temperature')],
      limits: [{ label: 'warns', metric: 'doca_phy_temperature_high_celsius' }],
      without: 'No source reads the cable or module of this port.',
    },
  ]
}

function bus(bandwidth: number | undefined): readonly DevicePanel[] {
  return [
    {
      id: 'pcie',
      title: 'PCIe',
      quantity: BYTES_PER_SECOND,
      slots: [7, 3],
      lines: [rate('doca_pci_tx_bytes', 'outbound'), rate('doca_pci_rx_bytes', 'inbound')],
      limits: [{ label: 'link', metric: 'pci_device_current_link_bandwidth_bytes_per_second', value: bandwidth }],
      without: 'No source counts the bytes of this PCIe link.',
    },
    {
      id: 'stalled',
      title: 'PCIe stalled',
      caption: 'share of the last second',
      quantity: PERCENT,
      slots: [7, 3],
      lines: [
        last('ethtool_port_outbound_pci_stalled_wr_ratio', 'writes'),
        last('ethtool_port_outbound_pci_stalled_rd_ratio', 'reads'),
      ],
      without: NO_DRIVER,
    },
    {
      id: 'read-latency',
      title: 'PCIe read latency',
      caption: 'reads by latency',
      quantity: PER_SECOND,
      scale: 'heat',
      lines: [rate('doca_pci_read_latency_seconds', 'reads')],
      without: 'No source counts the reads of this NIC over PCIe by their latency.',
    },
    {
      id: 'aer',
      title: 'PCIe errors',
      quantity: PER_SECOND,
      scale: 'lanes',
      slots: [7],
      lines: [
        rate('pci_device_aer_messages_total', 'correctable', { severity: 'correctable' }),
        rate('pci_device_aer_messages_total', 'non-fatal', { severity: 'nonfatal' }),
        rate('pci_device_aer_messages_total', 'fatal', { severity: 'fatal' }),
      ],
      without: 'No source reads the PCIe errors of this NIC.',
    },
  ]
}

function accelerator(): readonly DevicePanel[] {
  return [
    {
      id: 'dpa',
      title: 'Data-path accelerator',
      caption: 'threads, share of time',
      quantity: PERCENT,
      lines: [{ ...rate('doca_dpa_thread_active_seconds_total', 'thread'), each: 'thread' }],
      without: 'No process runs on the data-path accelerator of this NIC, or no source reads it.',
    },
  ]
}
