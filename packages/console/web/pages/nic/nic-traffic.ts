import { BITS_PER_SECOND, PER_SECOND, SECONDS } from '../../format/quantity.ts'
import { last, rate } from '../device/lines.ts'
import type { DeviceSection } from '../device/panel-sections.tsx'
import { hardware, NO_RDMA, port } from './nic-lines.ts'

/** Bytes, packets and requests of a port. */
export function trafficSection(): DeviceSection {
  return {
    id: 'traffic',
    title: 'Traffic',
    panels: [
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
    ],
  }
}

/** Lost packets, retransmissions and their timeouts. */
export function retransmissionSection(): DeviceSection {
  return {
    id: 'retransmission',
    title: 'Retransmission',
    panels: [
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
        title: 'RDMA retransmission rate',
        caption: 'events, not packets',
        quantity: PER_SECOND,
        scale: 'lanes',
        slots: [1],
        lines: [
          rate(hardware('roce_adp_retrans'), 'adaptive'),
          rate('doca_adp_retx_packets', 'adaptive', { origin: 'roce_adp_retrans' }),
          rate('doca_adp_retx_packets', 'adapter', { origin: 'timeouts' }),
          rate(hardware('local_ack_timeout_err'), 'timeouts'),
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
      {
        id: 'round-trip',
        title: 'Link round trip',
        caption: 'over the cable',
        quantity: SECONDS,
        lines: [last('doca_phy_round_trip_seconds', 'there and back')],
        without: 'No source reads the round trip of this link; the adapter measures it.',
        replaces: {
          title: 'Average RDMA RTT',
          reason: 'No library, driver or file of the kernel measures the round trip of RDMA.',
        },
      },
    ],
  }
}
