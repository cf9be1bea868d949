import { describe, test } from 'node:test'
import { assertRestartIsMarked } from '../../../test/counter-restart.ts'
import { TestNode } from '../test-node.ts'
import { rdma } from './rdma.ts'

const NODE = new URL('fixtures/node', import.meta.url)
const PORT = 'sys/class/infiniband/mlx5_3/ports/1'

describe('a counter that restarts is marked, and gains nothing that no link could carry:', () => {
  for (const { metric, file, bits } of [
    { metric: 'rdma_port_xmit_packets_total', file: 'counters/port_xmit_packets', bits: 64 },
    { metric: 'rdma_hw_rx_write_requests_total', file: 'hw_counters/rx_write_requests', bits: 32 },
  ])
    test(`${metric}, which the device keeps in ${bits} bits`, async (t) => {
      const node = new TestNode(t, NODE)
      // The device may repeat these values for their lifespan. Without a lifespan a restart shows in the next sample.
      node.write(`${PORT}/hw_counters/lifespan`, '0\n')
      const write = (value: number) => node.write(`${PORT}/${file}`, `${value}\n`)
      await assertRestartIsMarked(t, {
        source: rdma,
        node,
        metric,
        label: 'rdma_device',
        device: 'mlx5_3',
        write,
        rateMax: 1.25e6,
      })
    })
})
