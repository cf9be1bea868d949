import type { DeviceInfo } from '../../api/devices.ts'
import { BYTES_PER_SECOND, COUNT, PER_SECOND, PERCENT, TRANSFERS_PER_SECOND } from '../../format/quantity.ts'
import { last, rate } from '../device/lines.ts'
import type { DevicePanel, PanelLine } from '../device/panel.ts'
import type { PathEnd } from './pci-path.ts'

/** The panels of a PCIe link: its traffic, and the speed and errors of every end on the path to the root. */
export function pciPanels(
  device: DeviceInfo,
  owner: DeviceInfo | undefined,
  ends: readonly PathEnd[],
): readonly DevicePanel[] {
  const each = (name: string, fn: PanelLine['function'], full?: string): readonly PanelLine[] =>
    ends.flatMap(({ device: of, role }) => {
      if (!of) return []
      const label = role.replace('stream', '')
      return [
        { metric: `pci_device_${name}`, function: fn, label, of, ...(full ? { full: `pci_device_${full}` } : {}) },
      ]
    })
  const messages = (severity: string) =>
    each('aer_messages_total', 'rate').map((line) => ({ ...line, labels: { severity } }))
  return [
    {
      id: 'bytes',
      title: 'Bytes',
      quantity: BYTES_PER_SECOND,
      slots: [7, 3],
      lines: byteLines(owner),
      limits: [
        {
          label: 'link',
          metric: 'pci_device_current_link_bandwidth_bytes_per_second',
          value: owner?.limits.pcie_bytes_per_s ?? device.limits.pcie_bytes_per_s,
        },
      ],
      without: 'No source counts the bytes of this link.',
    },
    {
      id: 'stalled',
      title: 'Stalled',
      caption: 'share of the last second',
      quantity: PERCENT,
      slots: [7, 3],
      lines:
        owner?.kind === 'nic'
          ? [
              { ...last('ethtool_port_outbound_pci_stalled_wr_ratio', 'writes'), of: owner },
              { ...last('ethtool_port_outbound_pci_stalled_rd_ratio', 'reads'), of: owner },
            ]
          : [],
      without: 'Only NICs tell how long their reads and writes wait.',
    },
    {
      id: 'replays',
      title: 'Replays',
      quantity: PER_SECOND,
      scale: 'lanes',
      slots: [7],
      lines: owner?.kind === 'gpu' ? [{ ...rate('DCGM_FI_DEV_PCIE_REPLAY_COUNTER', 'sent again'), of: owner }] : [],
      without: 'Only GPUs count retransmissions of their link.',
    },
    {
      id: 'correctable',
      title: 'Correctable errors',
      caption: 'at each end',
      quantity: PER_SECOND,
      scale: 'lanes',
      slots: [7],
      lines: messages('correctable'),
      without: 'No source reads the errors of this path.',
    },
    {
      id: 'uncorrectable',
      title: 'Uncorrectable errors',
      caption: 'non-fatal',
      quantity: PER_SECOND,
      scale: 'lanes',
      slots: [7],
      lines: messages('nonfatal'),
      without: 'No source reads the errors of this path.',
    },
    {
      id: 'speed',
      title: 'Link speed',
      caption: 'a lane, at each end',
      quantity: TRANSFERS_PER_SECOND,
      scale: 'lanes',
      slots: [7],
      lines: each('current_link_speed_transfers_per_second', 'last', 'max_link_speed_transfers_per_second'),
      without: 'No source reads the links of this path.',
    },
    {
      id: 'width',
      title: 'Link width',
      caption: 'lanes, at each end',
      quantity: COUNT,
      scale: 'lanes',
      slots: [7],
      lines: each('current_link_width_lanes', 'last', 'max_link_width_lanes'),
      without: 'No source reads the links of this path.',
    },
  ]
}

function byteLines(owner: DeviceInfo | undefined): readonly PanelLine[] {
  if (owner?.kind === 'gpu') {
    return [
      { ...last('DCGM_FI_PROF_PCIE_TX_BYTES', 'from the GPU'), of: owner },
      { ...last('DCGM_FI_PROF_PCIE_RX_BYTES', 'to the GPU'), of: owner },
    ]
  }
  if (owner?.kind !== 'nic') return []
  return [
    { ...rate('doca_pci_tx_bytes', 'outbound'), of: owner },
    { ...rate('doca_pci_rx_bytes', 'inbound'), of: owner },
  ]
}
