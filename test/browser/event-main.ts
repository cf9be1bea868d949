// An agent with its page and with a source whose rule opens and closes events: `event-main.ts AUTO_MS --listen
// 127.0.0.1:0`.
import { SOURCES } from '../../packages/agent/test/edge-source.ts'
import { positionalsOf, serveSource } from '../serve-source.ts'

const [autoMs = '4000'] = positionalsOf()
const [definition] = SOURCES
if (definition === undefined) throw new Error('no source')
await serveSource({
  source: { name: 'edges', definition, intervalMs: 50, options: { auto_ms: Number(autoMs) } },
  sourcesModule: new URL('../../packages/agent/test/edge-source.ts', import.meta.url).href,
  hasPage: true,
})
