import type { Fact } from '../../components/facts.tsx'
import { linkName } from '../../devices/pcie.ts'
import { ABSENT } from '../../format/number.ts'
import { BIT_ERROR_RATIO, BYTES, BYTES_PER_SECOND, COUNT, PER_SECOND, PERCENT, SECONDS } from '../../format/quantity.ts'
import type { DeviceReadings } from '../device/device-readings.ts'
import { numberFact } from '../device/facts.ts'
import { last, rate } from '../device/lines.ts'
import type { DevicePanel } from '../device/panel.ts'
import type { DeviceSection } from '../device/panel-sections.tsx'
import { NO_DRIVER } from './nic-lines.ts'

const BANDWIDTH = 'pci_device_current_link_bandwidth_bytes_per_second'
const NO_BYTES = 'No source counts the bytes of this PCIe link; doca_telemetry_diag does.'
const NO_LIBRARY = 'No source reads the PCIe link of this NIC from its firmware; doca_telemetry_pci does.'
const NO_CREDITS = 'No source reads the diagnostic counters of this NIC; doca_telemetry_diag does.'
/** Causes of a stall, by the part of the metric that names it. */
const STALL_CAUSES = [
  ['write_data_credit', 'write data'],
  ['write_header_credit', 'write header'],
  ['read_data_credit', 'read data'],
  ['read_header_credit', 'read header'],
  ['read_completion', 'completion'],
  ['read_ordering', 'ordering'],
] as const

/** Use, stalls, latency and errors of the PCIe link of a NIC. `bandwidth` is its known bandwidth, in bytes a second. */
export function pcieSection(bandwidth: number | undefined): DeviceSection {
  return {
    id: 'pcie',
    title: 'PCIe',
    facts: pcieFacts,
    panels: [...stalls(), ...latency(), ...use(bandwidth), ...errors()],
  }
}

function pcieFacts({ last, mean, newest, judge }: DeviceReadings): readonly Fact[] {
  const now = linkName(last('doca_pci_link_generation'), last('doca_pci_link_width_lanes'))
  const enabled = linkName(last('doca_pci_link_generation_enabled'), last('doca_pci_link_width_enabled_lanes'))
  const latency =
    mean('doca_diag_pci_read_wait_seconds_total', 'rate').value / mean('doca_diag_pci_reads_total', 'rate').value
  const stalled = (label: string, name: string, direction: string): Fact => {
    const [driver, library] = [
      `ethtool_port_outbound_pci_stalled_${name}_ratio`,
      `doca_pci_outbound_stalled_${direction}_ratio`,
    ]
    const own = newest(driver)
    const reading = Number.isNaN(own.value) ? newest(library) : own
    return judge(numberFact(label, PERCENT, reading, 'of the last second'), driver, library)
  }
  return [
    judge(
      {
        label: 'Link of the adapter',
        value: now || ABSENT,
        caption: now === '' ? 'not reported' : now === enabled ? 'all that is enabled' : `of ${enabled}`,
      },
      BANDWIDTH,
    ),
    stalled('Writes stalled', 'wr', 'writes'),
    stalled('Reads stalled', 'rd', 'reads'),
    numberFact('Mean read latency', SECONDS, latency, 'of all reads'),
    numberFact('Longest read', SECONDS, newest('doca_diag_pci_read_latency_max_seconds'), 'of the last interval'),
    numberFact('Payload', BYTES, last('doca_pci_max_payload_bytes'), 'longest of a packet'),
    numberFact('Read request', BYTES, last('doca_pci_max_read_request_bytes'), 'longest'),
  ]
}

function stalls(): readonly DevicePanel[] {
  return [
    {
      id: 'stalled',
      title: 'PCIe stalled',
      caption: 'share of the last second',
      quantity: PERCENT,
      slots: [7, 3],
      lines: [
        last('ethtool_port_outbound_pci_stalled_wr_ratio', 'writes'),
        last('ethtool_port_outbound_pci_stalled_rd_ratio', 'reads'),
        last('doca_pci_outbound_stalled_writes_ratio', 'writes'),
        last('doca_pci_outbound_stalled_reads_ratio', 'reads'),
      ],
      without: NO_DRIVER,
    },
    {
      id: 'stall-causes',
      title: 'PCIe stalls by cause',
      caption: 'share of time, by missing credit',
      quantity: PERCENT,
      scale: 'lanes',
      slots: [7],
      lines: STALL_CAUSES.map(([name, label]) => rate(`doca_diag_pci_${name}_stall_seconds_total`, label)),
      without: NO_CREDITS,
    },
    {
      id: 'stall-events',
      title: 'PCIe back pressure',
      quantity: PER_SECOND,
      scale: 'lanes',
      slots: [7],
      lines: [
        rate('doca_pci_outbound_stalled_writes_events_total', 'writes stalled'),
        rate('doca_pci_outbound_stalled_reads_events_total', 'reads stalled'),
        rate('doca_pci_overflow_packets_total', 'packets dropped'),
        rate('doca_pci_overflow_marked_packets_total', 'packets marked'),
      ],
      without: NO_LIBRARY,
    },
  ]
}

function latency(): readonly DevicePanel[] {
  return [
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
      id: 'read-extremes',
      title: 'PCIe reads',
      caption: 'longest, mean and shortest',
      quantity: SECONDS,
      slots: [7, 3, 1],
      lines: [
        last('doca_diag_pci_read_latency_max_seconds', 'longest'),
        {
          ...rate('doca_diag_pci_read_wait_seconds_total', 'mean'),
          per: { metric: 'doca_diag_pci_reads_total', function: 'rate' },
        },
        last('doca_diag_pci_read_latency_min_seconds', 'shortest'),
      ],
      without: NO_CREDITS,
    },
  ]
}

function use(bandwidth: number | undefined): readonly DevicePanel[] {
  return [
    {
      id: 'utilisation',
      title: 'PCI bandwidth utilisation',
      caption: 'each way, as the link runs',
      quantity: PERCENT,
      scale: 'percent',
      slots: [7, 3],
      lines: [last('doca_pci_tx_utilisation_ratio', 'outbound'), last('doca_pci_rx_utilisation_ratio', 'inbound')],
      without: NO_BYTES,
    },
    {
      id: 'pcie-bytes',
      title: 'PCIe bytes',
      quantity: BYTES_PER_SECOND,
      slots: [7, 3],
      lines: [rate('doca_pci_tx_bytes', 'outbound'), rate('doca_pci_rx_bytes', 'inbound')],
      limits: [{ label: 'link', metric: BANDWIDTH, value: bandwidth }],
      without: NO_BYTES,
    },
    {
      id: 'pcie-link',
      title: 'PCIe link',
      caption: 'as the adapter runs it',
      quantity: COUNT,
      scale: 'lanes',
      slots: [7],
      lines: [
        { ...last('doca_pci_link_generation', 'generation'), full: 'doca_pci_link_generation_enabled' },
        { ...last('doca_pci_link_width_lanes', 'lanes'), full: 'doca_pci_link_width_enabled_lanes' },
      ],
      without: NO_LIBRARY,
    },
  ]
}

function errors(): readonly DevicePanel[] {
  return [
    {
      id: 'tlp',
      title: 'PCI TLP errors',
      caption: 'adapter and kernel',
      quantity: PER_SECOND,
      scale: 'lanes',
      slots: [7],
      lines: [
        rate('doca_pci_crc_tlp_errors_total', 'CRC, adapter'),
        ...(['BadTLP', 'MalfTLP', 'TLP'] as const).map((error) =>
          rate('pci_aer_errors_total', `${error}, kernel`, { error }),
        ),
      ],
      without: 'Neither the adapter nor the kernel counts errors of transaction packets here.',
    },
    {
      id: 'recoveries',
      title: 'PCIe recoveries',
      caption: 'by cause',
      quantity: PER_SECOND,
      scale: 'lanes',
      slots: [7],
      lines: [
        rate('doca_pci_l0_to_recovery_total', 'all'),
        rate('doca_pci_rx_errors_total', 'received'),
        rate('doca_pci_tx_errors_total', 'by the other end'),
        rate('doca_pci_crc_dllp_errors_total', 'CRC of DLLP'),
      ],
      without: NO_LIBRARY,
    },
    {
      id: 'aer',
      title: 'PCIe errors',
      caption: 'messages to the kernel',
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
    {
      id: 'pcie-bit-errors',
      title: 'PCIe bit error ratio',
      caption: 'from generation 6 on',
      quantity: BIT_ERROR_RATIO,
      scale: 'log',
      slots: [7, 3],
      lines: [
        last('doca_pci_effective_bit_error_ratio', 'after correction'),
        last('doca_pci_fber_ratio', 'FBER, undocumented'),
      ],
      without: NO_LIBRARY,
    },
  ]
}
