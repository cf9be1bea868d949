// An agent whose one source misbehaves: `unruly-main.ts MISDEED SAMPLE --listen 127.0.0.1:0`.
import { createAgent } from '@sonde/agent'
import pino from 'pino'
import { SOURCES } from '../../packages/agent/test/unruly-source.ts'
import { readyLine, serve } from '../../packages/cli/src/commands/run.ts'
import { untilSignal } from '../../packages/cli/src/commands/until-signal.ts'
import { loadConfig } from '../../packages/cli/src/config/load.ts'

const [misdeed = 'none', at = '1'] = process.argv.slice(2)
const definition = SOURCES[0]
if (definition === undefined) throw new Error('no source')
const loaded = loadConfig({ flags: [{ path: ['export', 'prometheus', 'port'], value: 0, origin: 'test' }] })
const agent = createAgent({
  config: {
    ...loaded.config.agent,
    dataSources: [{ name: 'unruly', definition, intervalMs: 50, options: { misdeed, at: Number(at) } }],
  },
  log: pino({ level: 'debug' }, pino.destination({ dest: 2, sync: true })),
  version: 'test',
  sourcesModule: new URL('../../packages/agent/test/unruly-source.ts', import.meta.url).href,
})

async function start() {
  const running = await serve(agent, loaded)
  console.log(await readyLine(agent, running.address, '', 0))
  return running
}

process.exit(await untilSignal(start()))
