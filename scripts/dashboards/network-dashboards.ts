import {
  CLUSTER,
  type DashboardDescription,
  NO_DATA,
  NODE,
  panel,
  panelOf,
  type RowDescription,
} from './description.ts'

const CHOSEN = 'cluster=~"$rack",instance=~"$node"'
const PORT = 'instance=~"$node",rdma_device=~"$rdma_device",port=~"$port"'
const OF_PORT = '{{instance}} {{rdma_device}}/{{port}}'
const DEVICE = 'instance=~"$node",device=~"$device"'
const OF_DEVICE = '{{instance}} {{device}}'
const rate = (metric: string, matchers: string) => `rate(${metric}{${matchers}}[$__rate_interval])`

/** Rails of a cluster, and the nodes that stand out. */
export const FABRIC: DashboardDescription = {
  ...{ uid: 'sonde-fabric', title: 'Sonde: fabric and RDMA' },
  about:
    'RDMA ports of a cluster by rail, which is the adapter of one name on every node. Charts over time read recorded series.',
  variables: [CLUSTER, NODE],
  rows: [
    {
      title: 'Now',
      panels: [
        panel('Ports', 'short', [`count(rdma_port_state{${CHOSEN}})`, ''], {
          ...{ kind: 'stat', help: 'RDMA ports.', noData: NO_DATA.rdma },
        }),
        panel('Ports down', 'short', [`sum(rdma_port_state{${CHOSEN}} != bool 4)`, ''], {
          ...{ kind: 'stat', help: 'Ports that are not active.', noData: NO_DATA.rdma, critical: 1 },
        }),
        panel('Sent', 'Bps', [`sum(${rate('rdma_port_xmit_data_bytes_total', CHOSEN)})`, ''], {
          ...{ kind: 'stat', help: 'Bytes a second of all ports.', noData: NO_DATA.rdma },
        }),
        panel('Sequence errors', 'ops', [`sum(${rate('rdma_hw_packet_seq_err_total', CHOSEN)})`, ''], {
          ...{
            kind: 'stat',
            help: 'Lost packets that senders noticed.',
            noData: NO_DATA.rdma,
            warning: 1,
            critical: 100,
          },
        }),
        panel('ECN marks', 'ops', [`sum(${rate('rdma_hw_np_ecn_marked_roce_packets_total', CHOSEN)})`, ''], {
          ...{ kind: 'stat', help: 'Packets that a switch marked as congested.', noData: NO_DATA.rdma },
        }),
        panel('PFC paused', 'percentunit', [`max(${rate('ethtool_priority_tx_pause_seconds_total', CHOSEN)})`, ''], {
          ...{
            kind: 'stat',
            help: 'The port that was paused longest.',
            noData: NO_DATA.ethtool,
            warning: 0.05,
            critical: 0.2,
          },
        }),
        worst('Most sequence errors', 'rdma_hw_packet_seq_err_total', 'Receivers saw a gap: packets were lost.'),
        worst('Most timeouts', 'rdma_hw_local_ack_timeout_err_total', 'No acknowledgement came in time.'),
        worst('Most CNPs', 'rdma_hw_rp_cnp_handled_total', 'Senders that congestion control slows down.'),
      ],
    },
    {
      title: 'Over time, by rail',
      panels: [
        rail(
          'Load',
          'percentunit',
          'rail:sonde_rdma_xmit_ratio:avg',
          'Sent bytes by the rate of the link, mean of all nodes.',
        ),
        rail('Slowest node', 'percentunit', 'rail:sonde_rdma_xmit_ratio:min', 'The node that sends least on a rail.'),
        rail('Ports down', 'short', 'rail:sonde_rdma_ports_down:count', 'Ports of a rail that are not active.'),
        rail('Sequence errors', 'ops', 'rail:sonde_rdma_sequence_errors:rate1m', 'Lost packets of a rail.'),
        rail('CNPs handled', 'ops', 'rail:sonde_rdma_cnp_handled:rate1m', 'Congestion that senders obey.'),
        panel('Sent, by node', 'Bps', [`instance:sonde_rdma_xmit_bytes:rate1m{${CHOSEN}}`, '{{instance}}'], {
          ...{ help: 'Bytes a second of all ports of a node.', noData: NO_DATA.rules, min: 0 },
        }),
      ],
    },
  ],
}

function worst(title: string, metric: string, help: string) {
  return panel(title, 'ops', [`topk(10, ${rate(metric, CHOSEN)}) > 0`, OF_PORT], {
    ...{ kind: 'table', help: `${help} The ten worst ports; none is good.`, noData: NO_DATA.none },
  })
}

function rail(title: string, unit: string, record: string, help: string) {
  return panel(title, unit, [`${record}{cluster=~"$rack"}`, '{{rdma_device}}'], { help, noData: NO_DATA.rules, min: 0 })
}

/** Both directions of a counter. */
function both(
  title: string,
  unit: string,
  [sent, received]: readonly [string, string],
  matchers: string,
  legend: string,
) {
  return panelOf(
    title,
    unit,
    [
      [rate(sent, matchers), `${legend} sent`],
      [rate(received, matchers), `${legend} received`],
    ],
    { help: 'A second, sent and received.', noData: NO_DATA.rdma, min: 0 },
  )
}

function counter(title: string, metric: string, help: string) {
  return panel(title, 'ops', [rate(metric, PORT), OF_PORT], { help, noData: NO_DATA.rdma, min: 0 })
}

const OF_LINK = 'max by (instance, rdma_device, port)'

const PORT_ROWS: readonly RowDescription[] = [
  {
    title: 'Traffic',
    panels: [
      both('Bytes', 'Bps', ['rdma_port_xmit_data_bytes_total', 'rdma_port_rcv_data_bytes_total'], PORT, OF_PORT),
      both('Packets', 'pps', ['rdma_port_xmit_packets_total', 'rdma_port_rcv_packets_total'], PORT, OF_PORT),
      panel(
        'Load',
        'percentunit',
        [
          // Two jobs may scrape one node.
          `${OF_LINK} (${rate('rdma_port_xmit_data_bytes_total', PORT)}) / ${OF_LINK} (rdma_port_rate_bytes_per_second{${PORT}})`,
          OF_PORT,
        ],
        {
          ...{ help: 'Sent bytes by the rate of the link.', noData: NO_DATA.rdma, min: 0, max: 1 },
        },
      ),
      panel('State', 'short', [`rdma_port_state{${PORT}}`, OF_PORT], {
        ...{ help: '4 is active, 1 is down.', noData: NO_DATA.rdma, min: 0, max: 5 },
      }),
    ],
  },
  {
    title: 'Loss and congestion',
    panels: [
      counter('Sequence errors', 'rdma_hw_packet_seq_err_total', 'A requester saw a gap: packets were lost.'),
      counter('Out of sequence', 'rdma_hw_out_of_sequence_total', 'A responder got packets in another order.'),
      counter('Timeouts', 'rdma_hw_local_ack_timeout_err_total', 'No acknowledgement came in time.'),
      counter('ECN marks', 'rdma_hw_np_ecn_marked_roce_packets_total', 'Packets that a switch marked.'),
      counter('CNPs sent', 'rdma_hw_np_cnp_sent_total', 'Receivers ask senders to slow down.'),
      counter('CNPs handled', 'rdma_hw_rp_cnp_handled_total', 'Senders slow down.'),
      counter('No buffer', 'rdma_hw_out_of_buffer_total', 'Packets without a receive buffer of the application.'),
      counter('Adaptive retransmissions', 'rdma_hw_roce_adp_retrans_total', 'The adapter sent again by itself.'),
      counter('Wait', 'rdma_port_xmit_wait_ticks_total', 'Ticks in which the port had data and could not send.'),
    ],
  },
]

/** The ports of a NIC: the console links to it. */
export const NIC: DashboardDescription = {
  ...{ uid: 'sonde-nic', title: 'Sonde: RDMA NIC' },
  about: 'The ports of a NIC: traffic, loss, congestion.',
  variables: [
    NODE,
    { name: 'rdma_device', label: 'NIC', query: 'label_values(rdma_port_state{instance=~"$node"}, rdma_device)' },
    { name: 'port', label: 'Port', query: 'label_values(rdma_port_state{instance=~"$node"}, port)' },
  ],
  rows: PORT_ROWS,
}

function driver(title: string, unit: string, expr: string, help: string) {
  return panel(title, unit, [expr, `${OF_DEVICE} {{priority}}`], { help, noData: NO_DATA.ethtool, min: 0 })
}

/** The interfaces of a node: the console links to it. */
export const INTERFACE: DashboardDescription = {
  ...{ uid: 'sonde-netdev', title: 'Sonde: interface' },
  about: 'Interfaces: traffic, errors, pause frames, and the PCIe behind them.',
  variables: [
    NODE,
    { name: 'device', label: 'Interface', query: 'label_values(netdev_up{instance=~"$node"}, device)' },
  ],
  rows: [
    {
      title: 'Traffic',
      panels: [
        both('Bytes', 'Bps', ['netdev_tx_bytes_total', 'netdev_rx_bytes_total'], DEVICE, OF_DEVICE),
        both('Packets', 'pps', ['netdev_tx_packets_total', 'netdev_rx_packets_total'], DEVICE, OF_DEVICE),
        both('Errors', 'ops', ['netdev_tx_errors_total', 'netdev_rx_errors_total'], DEVICE, OF_DEVICE),
        both('Dropped', 'ops', ['netdev_tx_dropped_total', 'netdev_rx_dropped_total'], DEVICE, OF_DEVICE),
        panel('Carrier lost', 'ops', [rate('netdev_carrier_changes_total', DEVICE), OF_DEVICE], {
          ...{ help: 'Changes of the carrier.', noData: NO_DATA.host, min: 0 },
        }),
        panel('Speed', 'Bps', [`netdev_speed_bytes_per_second{${DEVICE}}`, OF_DEVICE], {
          ...{ help: 'The speed that the link has now.', noData: NO_DATA.host, min: 0 },
        }),
      ],
    },
    {
      title: 'Adapter',
      panels: [
        driver(
          'PFC: paused by the peer',
          'percentunit',
          rate('ethtool_priority_tx_pause_seconds_total', DEVICE),
          'Share of time in which this port had to wait, by priority.',
        ),
        driver(
          'PFC: pauses the peer',
          'percentunit',
          rate('ethtool_priority_rx_pause_seconds_total', DEVICE),
          'Share of time in which pause frames came, by priority.',
        ),
        driver(
          'Discards',
          'ops',
          rate('ethtool_port_rx_discards_phy_total', DEVICE),
          'Packets that the adapter had no room for.',
        ),
        driver(
          'CRC errors',
          'ops',
          rate('ethtool_port_rx_crc_errors_phy_total', DEVICE),
          'A bad cable, a bad transceiver, or dirt.',
        ),
        driver(
          'Corrected bits',
          'ops',
          rate('ethtool_port_rx_corrected_bit_errors_phy_total', DEVICE),
          'Errors that the link corrected.',
        ),
        driver(
          'PCIe stalls',
          'percentunit',
          `ethtool_port_outbound_pci_stalled_wr_ratio{${DEVICE}}`,
          'Share of time in which the adapter waited to write to memory.',
        ),
      ],
    },
  ],
}
