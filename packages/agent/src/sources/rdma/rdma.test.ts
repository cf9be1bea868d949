import { testSource } from '../conformance.ts'
import { rdma } from './rdma.ts'
import { rdmaPortType } from './type.ts'

const fixture = (name: string) => new URL(`fixtures/${name}`, import.meta.url)
const MLX5_4 = 'sys/class/infiniband/mlx5_4/ports/1'

testSource(rdma, {
  tree: fixture('small'),
  options: { sweep_limit_ms: 1000 },
  nameless: /bnxt_re1.*hw_counters\/(?!lifespan)/,
  counter: {
    type: rdmaPortType,
    field: 'xmit_packets_total',
    labels: { device: 'mlx5_4', port: '1' },
    write: (node, value) => node.write(`${MLX5_4}/counters/port_xmit_packets`, `${value}\n`),
  },
  series: {
    type: rdmaPortType,
    labels: { device: 'bnxt_re1', port: '1' },
    leave: (node) => node.remove('sys/class/infiniband/bnxt_re1'),
  },
})
