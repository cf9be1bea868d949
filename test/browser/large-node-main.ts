// An agent with its page, of a node with 200 interfaces, 64 GPUs, 400 disks, 60 file systems and 128 CPUs.

import { largeNode } from '../../packages/agent/test/large-node.ts'
import { serveSource } from '../serve-source.ts'

await serveSource({
  source: { name: 'large_node', definition: largeNode(2_000), intervalMs: 2_000, options: {} },
  hasPage: true,
})
