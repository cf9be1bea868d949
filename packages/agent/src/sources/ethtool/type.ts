import { counter, defineType, gauge, label, labelNumber, optional, text, timestamp } from '@sonde/sdk'

const entity = { kind: 'netdev', key: ['device'] }

const bytes = (help: string) => optional(counter('u64', { unit: 'bytes', help }))
const count = (help: string) => optional(counter('u64', { help }))
const seconds = (help: string) => optional(counter('f64', { unit: 'seconds', help }))
const wholeSeconds = (help: string) => optional(counter('u64', { unit: 'seconds', help }))
const flag = (help: string) => optional(gauge('u8', { help }))
const word = (help: string) => optional(text({ help }))
const device = () => label('Name of the interface')

/** The link of one interface and the driver behind it: what `ethtool DEVICE` and `ethtool -i DEVICE` show. */
export const ethtoolLinkType = defineType(
  'ethtool_link',
  'Link and driver of one network interface',
  {
    time: timestamp(),
    device: device(),
    responsive: gauge('u8', { help: '1 while the driver answers, 0 while a call to it hangs' }),
    detected: flag('1 when the driver sees a link'),
    speed_bytes_per_second: optional(
      gauge('u64', { unit: 'bytes_per_second', help: 'Speed of the link in bytes per second' }),
    ),
    full_duplex: flag('1 in full duplex, 0 in half duplex'),
    autonegotiation: flag('1 when speed and duplex are negotiated with the other side, 0 when they are set'),
    lanes: optional(gauge('u32', { help: 'Lanes of the link in use' })),
    port_kind: word('Connector: twisted_pair, aui, mii, fibre, bnc, direct_attach, none or other'),
    driver: word('Name of the driver'),
    driver_version: word('Version of the driver, for most the release of the kernel'),
    firmware: word('Version of the firmware'),
    address: word('Address on its bus, for PCI as in 0000:9a:00.0'),
  },
  { entity, core: ['responsive', 'detected', 'speed_bytes_per_second'] },
)

/** Counters of a port and of its device that stand for themselves. The names are those of the mlx5 driver. */
export const ethtoolPortType = defineType(
  'ethtool_port',
  'Physical port and PCIe side of one network adapter',
  {
    time: timestamp(),
    device: device(),
    rx_phy_bytes_total: bytes('Bytes received at the port, with Ethernet header and checksum'),
    tx_phy_bytes_total: bytes('Bytes sent at the port, with Ethernet header and checksum'),
    rx_packets_phy_total: count('Packets received at the port without an error'),
    tx_packets_phy_total: count('Packets sent at the port'),
    rx_crc_errors_phy_total: count('Packets dropped for a wrong checksum'),
    rx_symbol_err_phy_total: count('Packets dropped for physical coding errors'),
    rx_pcs_symbol_err_phy_total: count('Symbol errors that forward error correction did not correct'),
    rx_corrected_bits_phy_total: optional(
      counter('u64', {
        metric: 'ethtool_port_rx_corrected_bit_errors_phy_total',
        help: 'Bits that forward error correction corrected',
      }),
    ),
    rx_bits_phy_total: optional(
      counter('u64', {
        metric: 'ethtool_port_rx_bit_times_phy_total',
        help: 'Bits that the port could have received, the base of error rates',
      }),
    ),
    rx_discards_phy_total: count('Packets received and dropped because the port had no buffer'),
    tx_discards_phy_total: count('Packets dropped instead of being sent, though without an error'),
    tx_errors_phy_total: count('Packets not sent because they were longer than the port allows'),
    rx_oversize_pkts_phy_total: count('Packets dropped for being longer than the port allows'),
    link_down_events_phy_total: count('Times the link went down'),
    rx_pause_ctrl_phy_total: count('Pause packets received'),
    tx_pause_ctrl_phy_total: count('Pause packets sent'),
    rx_global_pause_total: count('Global pause packets received'),
    tx_global_pause_total: count('Global pause packets sent'),
    rx_global_pause_seconds_total: seconds('Time in which the port sent nothing because it was paused'),
    tx_global_pause_seconds_total: seconds('Time for which the port asked the other side to pause'),
    rx_global_pause_transition_total: count('Changes from paused to running'),
    tx_pause_storm_warning_events_total: count('Times the device sent pauses for long'),
    tx_pause_storm_error_events_total: count(
      'Times it did so for too long and pauses were switched off; packets may be lost',
    ),
    rx_buffer_passed_thres_phy_total: count('Times the receive buffer of the port was more than 85 % full'),
    rx_out_of_buffer_total: count('Packets dropped because a receive queue had no buffer'),
    dev_out_of_buffer_total: count('Times a queue owned by the device had no buffer'),
    rx_oversize_pkts_buffer_total: count('Packets dropped because they were longer than the buffer'),
    rx_steer_missed_packets_total: count('Packets received that no rule of the adapter took'),
    rx_ecn_mark_total: count('Packets received with an ECN mark, without those of RDMA'),
    rx_vport_rdma_unicast_bytes_total: bytes('Bytes of RDMA received'),
    tx_vport_rdma_unicast_bytes_total: bytes('Bytes of RDMA sent'),
    rx_vport_rdma_unicast_packets_total: count('Packets of RDMA received'),
    tx_vport_rdma_unicast_packets_total: count('Packets of RDMA sent'),
    module_bus_stuck_total: count("Times the cable module's bus was shorted"),
    module_high_temp_total: count('Times the cable module was too hot'),
    module_bad_shorted_total: count('Times the cable module was shorted'),
    module_unplug_total: count('Times the cable module was unplugged'),
    rx_pci_signal_integrity_total: count('PCIe recoveries for framing and checksum errors that the adapter saw'),
    tx_pci_signal_integrity_total: count('PCIe recoveries that the other side began'),
    outbound_pci_buffer_overflow_total: count('Packets dropped because the buffers towards PCIe were full'),
    outbound_pci_stalled_rd_ratio: optional(
      gauge('f64', { unit: 'ratio', help: 'Share of the last full second in which reads over PCIe had to wait' }),
    ),
    outbound_pci_stalled_wr_ratio: optional(
      gauge('f64', { unit: 'ratio', help: 'Share of the last full second in which writes over PCIe had to wait' }),
    ),
    outbound_pci_stalled_rd_seconds_total: wholeSeconds(
      'Seconds in which reads over PCIe waited more than 30 % of the time',
    ),
    outbound_pci_stalled_wr_seconds_total: wholeSeconds(
      'Seconds in which writes over PCIe waited more than 30 % of the time',
    ),
  },
  {
    entity,
    core: [
      'tx_phy_bytes_total',
      'rx_crc_errors_phy_total',
      'rx_pcs_symbol_err_phy_total',
      'rx_corrected_bits_phy_total',
      'rx_discards_phy_total',
      'link_down_events_phy_total',
      'tx_pause_storm_error_events_total',
      'rx_out_of_buffer_total',
      'tx_vport_rdma_unicast_bytes_total',
      'module_high_temp_total',
      'outbound_pci_stalled_rd_ratio',
      'outbound_pci_stalled_wr_ratio',
    ],
  },
)

/** Counters of one priority of a port: `rx_prio3_pause` is `rx_pause_total` of priority 3. */
export const ethtoolPriorityType = defineType(
  'ethtool_priority',
  'One priority of the port of a network adapter',
  {
    time: timestamp(),
    device: device(),
    priority: labelNumber('u8', 'Priority, 0 to 7'),
    rx_bytes_total: bytes('Bytes received with the priority'),
    tx_bytes_total: bytes('Bytes sent with the priority'),
    rx_packets_total: count('Packets received with the priority'),
    tx_packets_total: count('Packets sent with the priority'),
    rx_pause_total: count('Pause frames received for the priority'),
    tx_pause_total: count('Pause frames sent for the priority'),
    rx_pause_seconds_total: seconds('Time in which the priority sent nothing because it was paused'),
    tx_pause_seconds_total: seconds('Time for which the port asked the other side to pause the priority'),
    rx_pause_transition_total: count('Changes from paused to running'),
    rx_discards_total: count('Packets dropped because no buffer was free'),
    rx_buf_discard_total: count('Packets dropped because the host had used up its share of the buffers'),
    rx_cong_discard_total: count('Packets dropped for congestion of the host'),
    rx_marked_total: count('Packets that the device gave an ECN mark for congestion of the host'),
  },
  { entity, core: ['rx_pause_seconds_total', 'tx_pause_seconds_total'] },
)

/** Counters of one lane of a port: `rx_err_lane_2_phy` is `rx_err_phy_total` of lane 2. */
export const ethtoolLaneType = defineType(
  'ethtool_lane',
  'One physical lane of the port of a network adapter',
  {
    time: timestamp(),
    device: device(),
    lane: labelNumber('u8', 'Lane, from 0'),
    rx_err_phy_total: count('Bit errors before forward error correction'),
  },
  { entity, core: [] },
)

/** Every statistic of a driver that none of the other types has. */
export const ethtoolDriverType = defineType(
  'ethtool_driver',
  'A statistic of a driver under the name it gives it',
  {
    time: timestamp(),
    device: device(),
    counter: label('Name of the statistic in the driver'),
    statistic: counter('u64', {
      metricType: 'unknown',
      help: 'Value of the statistic; a few drivers have gauges among their statistics',
    }),
  },
  { entity, core: [] },
)
