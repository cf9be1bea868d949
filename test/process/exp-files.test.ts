// The command with `.exp` files, and with queues that another process has.
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { durableRig } from '../../packages/sdk/test/durable-rig.ts'
import { ForwardPeer } from '../../packages/sdk/test/forward-peer.ts'
import { HttpPeer } from '../../packages/sdk/test/http-peer.ts'
import { ask, metricsOf } from '../ask.ts'
import { assertStops, runSonde, startSonde, temporaryDir, until } from '../sonde-process.ts'

const LIMIT_MS = 60_000
const SOUND = 'enable=1\nplugin_name=forward\n'

test('every fault of .exp files ends the start with exit code 2, file and line, and no secret', async (t) => {
  const { path: dir, remove } = temporaryDir()
  t.after(remove)
  const env = { FLUENT_BIT_EXPORT_ENABLE: '1', FLUENT_BIT_CONFIG_DIR: dir }
  const files: Readonly<Record<string, readonly [text: string, line: number, words: RegExp]>> = {
    'a.exp': [`${SOUND}hots=far`, 3, /hots is an unknown key; allowed: name, enable/],
    'b.exp': ['enable=1\nplugin_name=splunk', 2, /plugin_name is "splunk"; allowed: forward, stdout/],
    'c.exp': [`${SOUND}port=0`, 3, /port is "0"; allowed: a port from 1 to 65535/],
    'd.exp': [`${SOUND}host=me:hush@far`, 3, /host is "\(secret\)@far"; allowed: a host name or an address/],
    'e.exp': [`${SOUND}plugin_shared_kee=hush`, 3, /plugin_shared_kee is an unknown key of this plugin/],
  }
  for (const [name, [text]] of Object.entries(files)) writeFileSync(join(dir, name), text)
  const { code, output } = await runSonde(['up', '--listen', '127.0.0.1:0'], { env })
  assert.equal(code, 2, output)
  const lines = output.trimEnd().split('\n')
  for (const [name, [, line, words]] of Object.entries(files)) {
    const said = lines.find((each) => each.includes(`${join(dir, name)}:${line}: `))
    assert.match(said ?? `nothing about ${name}: ${output}`, words)
  }
  assert.equal(lines.length, Object.keys(files).length)
  assert.doesNotMatch(output, /hush/)

  // What only the schema of a destination sees.
  for (const name of Object.keys(files)) rmSync(join(dir, name))
  writeFileSync(join(dir, 'f.exp'), 'enable=1\nplugin_name=es\nplugin_tls=on\nplugin_tls.ca_file=/nowhere/ca.pem\n')
  const late = await runSonde(['up', '--listen', '127.0.0.1:0'], { env })
  assert.equal(late.code, 2, late.output)
  assert.match(late.output, /f\.exp:4: .*tls\.ca_file is "\/nowhere\/ca\.pem", which cannot be read: ENOENT/)
})

test('an agent sends where .exp files say, and config and check show them', async (t) => {
  const { path: dir, remove } = temporaryDir()
  t.after(remove)
  const env = { FLUENT_BIT_EXPORT_ENABLE: '1', FLUENT_BIT_CONFIG_DIR: dir }
  const [peer, sonde] = [await ForwardPeer.start(t), join(dir, 'sonde.yaml')]
  writeFileSync(sonde, 'data_sources: [{ type: host, interval_ms: 100, parts: [load] }]\nstore: { enabled: false }\n')
  writeFileSync(join(dir, 'central.exp'), `${SOUND}port=${peer.port}\nsource_tags=counters\nadd_site=lab\n`)
  writeFileSync(join(dir, 'tls.exp'), 'enable=1\nplugin_name=es\nport=1\nplugin_tls=on\nplugin_tls.verify=off\n')
  const shown = await runSonde(['config', '--config', sonde], { env })
  assert.equal(shown.code, 0, shown.output)
  assert.match(shown.output, new RegExp(`port: ${peer.port} +# ${dir}/central\\.exp:3`))
  const checked = await runSonde(['check', '--config', sonde, '--listen', '127.0.0.1:0'], { env })
  assert.match(checked.output, new RegExp(`^central\\.exp +configured +sends to 127\\.0\\.0\\.1:${peer.port}`, 'm'))
  assert.equal(peer.connections, 0)

  const agent = await startSonde(['agent', '--config', sonde], { env })
  t.after(() => agent.stop('SIGKILL'))
  await until('events arrive', LIMIT_MS, () => peer.events.length > 0)
  assert.equal(peer.events[0]?.record.site, 'lab')
  assert.match(agent.output(), /DLV_UNVERIFIED.*tls\.exp does not check the certificate of its far end/)
  await assertStops(agent)
})

test('a queue that another process has: the agent starts, says so, and uses it when it is free', async (t) => {
  const { path, remove } = temporaryDir()
  t.after(remove)
  const [queueDir, file, peer] = [join(path, 'queue'), join(path, 'sonde.yaml'), await HttpPeer.start(t)]
  const other = durableRig(t, { queueDir })
  other.accept(1)
  await other.drained()
  writeFileSync(
    file,
    `data_sources: [{ type: host, interval_ms: 100, parts: [load] }]
store: { enabled: false }
export: { jsonl: { url: '${peer.url}', queue_dir: ${queueDir}, linger_ms: 0 } }
`,
  )
  const agent = await startSonde(['agent', '--config', file])
  t.after(() => agent.stop('SIGKILL'))
  const words = /is in use by another process; give each destination of each process a queueDir of its own/
  await until('the page says so', LIMIT_MS, async () => {
    const { sinks } = await ask<{ sinks: { name: string; failing: string }[] }>(agent, '/api/v1/sources')
    return sinks.some(({ name, failing }) => name === 'jsonl' && words.test(failing))
  })
  const dropped = /^sonde_loss_records_total\{component="jsonl",reason="queue_failed"[^}]*\} 0*[1-9]/m
  await until('the loss is counted', LIMIT_MS, async () => dropped.test(await metricsOf(agent)))
  assert.match(agent.output(), words)
  assert.equal(peer.bodies.length, 0)
  await other.sink.close()
  await until('records arrive', LIMIT_MS, () => peer.bodies.length > 0)
  await until('the page says that all is well', LIMIT_MS, async () => {
    const { sinks } = await ask<{ sinks: { name: string; failing: string }[] }>(agent, '/api/v1/sources')
    return sinks.some(({ name, failing }) => name === 'jsonl' && failing === '')
  })
  await assertStops(agent)
})
