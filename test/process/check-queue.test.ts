import assert from 'node:assert/strict'
import { appendFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { HttpPeer } from '../../packages/sdk/test/http-peer.ts'
import { metricsOf } from '../ask.ts'
import { runSonde, startSonde, temporaryDir, until } from '../sonde-process.ts'

const LIMIT_MS = 30_000

test('the queue of a killed agent is checked and repaired, and its ledger holds', async (t) => {
  const far = await HttpPeer.start(t)
  await far.behave('fails')
  const { path, remove } = temporaryDir()
  t.after(remove)
  const [queue, file] = [join(path, 'queue'), join(path, 'sonde.yaml')]
  writeFileSync(
    file,
    `data_sources: [{ type: host, interval_ms: 100, parts: [load] }]
export: { jsonl: { url: '${far.url}', queue_dir: ${queue}, linger_ms: 0 } }
`,
  )
  const sonde = await startSonde(['agent', '--config', file])
  t.after(() => sonde.stop('SIGKILL'))
  const queued = /^sonde_sink_queued_records\{sink="jsonl"\} 0*[1-9]/m
  await until('records wait', LIMIT_MS, async () => queued.test(await metricsOf(sonde)))
  const locked = await runSonde(['check', queue, '--repair'])
  assert.deepEqual(
    [locked.code === 0, /is in use by another process/.test(locked.output)],
    [false, true],
    locked.output,
  )
  await sonde.stop('SIGKILL')

  const [segment = ''] = readdirSync(queue).filter((name) => name.endsWith('.bin'))
  appendFileSync(join(queue, segment), 'DTBK')
  const torn = await runSonde(['check', queue])
  assert.equal(torn.code, 1, torn.output)
  assert.match(torn.output, /^damaged {3}.*bytes are no whole block$/m)
  const repaired = await runSonde(['check', queue, '--repair'])
  assert.equal(repaired.code, 0, repaired.output)
  assert.match(repaired.output, /^repaired {2}.*were cut$/m)
  const whole = await runSonde(['check', queue])
  assert.equal(whole.code, 0, whole.output)
  const ledger = /^ledger {4}in (\d+) = out 0 \+ dropped 0 \+ queued (\d+)$/m.exec(whole.output)
  assert.ok(ledger !== null && Number(ledger[1]) > 0 && ledger[1] === ledger[2], whole.output)
})
