// An agent with a store and a source of many devices in a child process:
// `node replaced-child-main.ts STORE DEVICES LOSS_FILE`.
import { createStore } from '@sonde/console'
import { SOURCES } from '../../packages/agent/test/unruly-source.ts'
import { positionalsOf, serveSource } from '../serve-source.ts'

const [path = '', devices = '1', lossFile = ''] = positionalsOf()
const definition = SOURCES.find(({ name }) => name === 'unruly')
if (definition === undefined) throw new Error('no source unruly')
await serveSource({
  source: {
    ...{ name: 'unruly', definition, intervalMs: 50 },
    options: { misdeed: 'none', at: 1, devices: Number(devices), lossFile },
  },
  sourcesModule: new URL('../../packages/agent/test/unruly-source.ts', import.meta.url).href,
  store: await createStore({ path }),
})
