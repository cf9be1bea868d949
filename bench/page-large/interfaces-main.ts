// An agent with its page, of a node with as many interfaces as the second argument says.
import { largeNode } from '../../packages/agent/test/large-node.ts'
import { positionalsOf, serveSource } from '../../test/serve-source.ts'

const [, countText = '16'] = positionalsOf()

await serveSource({
  source: {
    name: 'large_node',
    definition: largeNode(1_000, { interfaceCount: Number(countText), hasOthers: false }),
    intervalMs: 1_000,
    options: {},
  },
  hasPage: true,
})
