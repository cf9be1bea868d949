import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { netdev } from '../../packages/agent/src/sources/netdev/netdev.ts'
import { netdevType } from '../../packages/agent/src/sources/netdev/type.ts'
import { TestedSource, TestNode } from '../../packages/agent/src/sources/test-node.ts'

const TREE = new URL('../../packages/agent/src/sources/netdev/fixtures/virtio-guest', import.meta.url)
const TABLE = 'proc/net/dev'

// A kept descriptor of a plain file goes on giving what the file held when it was deleted: no read of it ever fails or
// is empty.
test('a tree that is deleted and made again shows its new counters, not those it had when it was deleted', async (t) => {
  const node = new TestNode(t, TREE)
  const tested = new TestedSource(netdev, node.paths)
  t.after(() => tested.source.close())
  const table = node.read(TABLE)
  const received = async () => {
    const records = await tested.sampleOf(netdevType)
    return records.find(({ device }) => device === 'eth0')?.rx_bytes_total
  }
  assert.notEqual(await received(), 77n)
  rmSync(`${node.root}/proc`, { recursive: true })
  node.write(TABLE, table.replace(/(eth0: *)\d+/, '$1 77'))
  const seen: unknown[] = []
  for (let sweep = 0; sweep < 16; sweep++) seen.push(await received())
  assert.equal(seen.at(-1), 77n)
})
