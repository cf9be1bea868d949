// The rival of the benchmark, a process of its own: `node lines-main.ts SOCKETS_DIR agent|up`. It parses JSON lines and
// hands them to an agent with the same sinks as the command has. When a client has sent its last line, it answers how
// many are stored.
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createAgent } from '@sonde/agent'
import { createStore } from '@sonde/console'
import { createSource, type RecordOf } from '@sonde/sdk'
import { SOCKET_NAME } from '@sonde/sdk/internal'
import { loadConfig } from '../../packages/cli/src/config/load.ts'
import { storePath } from '../../packages/cli/src/config/store-path.ts'
import { openLog } from '../../packages/cli/src/log.ts'
import { recordType } from './record.ts'

const [, , socketsDir = '', command = 'agent'] = process.argv
/** Records for each flush of the sinks: fewer than the queue of the store holds. */
const FLUSH_RECORDS = 100_000

const { config } = loadConfig({ environment: { ...process.env, SONDE_SERVICE_ENABLED: 'false' } })
const store = command === 'up' ? await createStore({ path: storePath(config.store) }) : undefined
const sinks = store === undefined ? [] : [store]
const agent = createAgent({ config: config.agent, log: openLog('error'), version: 'bench', sinks })
const source = createSource({ id: 'bench', emit: (batch) => agent.router.accept(batch) })

async function flush(): Promise<void> {
  source.emit()
  await Promise.all(agent.router.sinks.filter(({ durable }) => durable === true).map((sink) => sink.flush()))
}

async function serve(socket: Socket): Promise<void> {
  let rest = ''
  let records = 0
  socket.setEncoding('utf8')
  for await (const chunk of socket) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const record = JSON.parse(line) as RecordOf<typeof recordType> & { time: number }
      source.report(recordType, { ...record, time: BigInt(record.time) * 1_000_000n })
      if (++records % FLUSH_RECORDS === 0) await flush()
    }
  }
  await flush()
  socket.end(String(records))
}

agent.start()
createServer({ allowHalfOpen: true }, (socket) => void serve(socket)).listen(join(socketsDir, SOCKET_NAME), () =>
  process.send?.('ready'),
)
process.on('disconnect', () => process.exit(0))
