import { test } from 'node:test'
import { assertRestartIsMarked } from '../../../test/counter-restart.ts'
import { TestNode } from '../test-node.ts'
import { netdev } from './netdev.ts'

const VETH = new URL('fixtures/veth-namespace', import.meta.url)

test('a counter that restarts at the front door is marked, and gains nothing that no link could carry', async (t) => {
  const node = new TestNode(t, VETH)
  await assertRestartIsMarked(t, {
    label: 'device',
    ...{ source: netdev, node, metric: 'netdev_rx_bytes_total', device: 'br0' },
    write: (value) => node.write('proc/net/dev', node.read('proc/net/dev').replace(/(br0: +)\d+/, `$1${value}`)),
    // A link of 10 Mb/s.
    rateMax: 1.25e6,
  })
})
