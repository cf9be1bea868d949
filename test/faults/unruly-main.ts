// An agent with a source that misbehaves beside one that does not: `unruly-main.ts MISDEED SAMPLE [TYPE] --listen
// 127.0.0.1:0`.
import { SOURCES } from '../../packages/agent/test/unruly-source.ts'
import { positionalsOf, serveSource } from '../serve-source.ts'

const [misdeed = 'none', at = '1', type = 'unruly'] = positionalsOf()
const definition = SOURCES.find(({ name }) => name === type)
if (definition === undefined) throw new Error(`no source ${type}`)
await serveSource({
  source: { name: 'unruly', definition, intervalMs: 50, options: { misdeed, at: Number(at), devices: 1 } },
  limits: { source_call_ms: 1000, source_flood_bytes: 1 << 20 },
  sourcesModule: new URL('../../packages/agent/test/unruly-source.ts', import.meta.url).href,
})
