// Every configuration of docs/destinations.md and every sample of deploy/fluent_bit_configs, run by one agent: each far
// end has as many records as the agent says that it sent.

import assert from 'node:assert/strict'
import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { counter, createSchema, defineType, element, label, reportLog, timestamp, wallNs } from '@sonde/sdk'
import { parse } from 'yaml'
import { BulkServer } from '../../packages/sdk/test/bulk-server.ts'
import { TestCa } from '../../packages/sdk/test/certificates.ts'
import { readFiles } from '../../packages/sdk/test/files-rig.ts'
import { FlowCollector } from '../../packages/sdk/test/flow-collector.ts'
import { startFluentServer } from '../../packages/sdk/test/fluent-server.mjs'
import { HttpPeer } from '../../packages/sdk/test/http-peer.ts'
import { attributesOf } from '../../packages/sdk/test/otlp-messages.ts'
import { OtlpReceiver } from '../../packages/sdk/test/otlp-receiver.ts'
import { metricsOf, numberOn } from '../ask.ts'
import { needs } from '../debian.ts'
import { assertStops, runSonde, startSonde, temporaryDir, until } from '../sonde-process.ts'
import { type InfluxPeer, startInflux } from './influx-peer.ts'
import { launchVictoria } from './query-peers.ts'

const LIMIT_MS = 30_000
const TRAINING_RECORDS = 1000
const LAST_TOKENS = String(TRAINING_RECORDS - 1)
const root = fileURLToPath(new URL('../../', import.meta.url))
const SAMPLES = join(root, 'deploy/fluent_bit_configs')

type Blocks = Readonly<Record<string, object | object[]>>

const step = defineType('step', 'A step of a training', {
  time: timestamp(),
  job: label(),
  // NetFlow has only fields with an element.
  tokens_total: element('IN_BYTES', counter('u64')),
})

test(
  'an agent with every documented configuration and sample sends to each far end what it counts',
  needs('influxd', 'openssl', 'victoria-metrics'),
  async (t) => {
    const { path: dir, remove } = temporaryDir()
    t.after(remove)
    const ca = new TestCa(dir)
    const collector = await startCollector(t, ca)
    ca.sign('node', 'DNS:node')
    writeFileSync(join(dir, 'password'), 's3cret\n')
    const influx = await startInflux(t)
    await influx.query('CREATE DATABASE telemetry')
    const victoria = await launchVictoria(t, ['-search.latencyOffset=0s'], temporaryDir())
    const [bulk, es] = [new BulkServer(), await HttpPeer.start(t)]
    es.answer = bulk.answer
    const fluent = await startFluentServer()
    t.after(() => fluent.close())
    const otlp = await OtlpReceiver.start(t)
    const flows = await FlowCollector.start(t)
    const places: readonly (readonly [RegExp, string])[] = [
      [/https:\/\/(collector|other|influx)\.example(:\d+)?/g, `https://127.0.0.1:${collector.port}`],
      [/127\.0\.0\.1:8086/g, new URL(influx.url).host],
      [/127\.0\.0\.1:(9090|8428)/g, new URL(victoria).host],
      [/127\.0\.0\.1:9200/g, new URL(es.url).host],
      [/127\.0\.0\.1:4318/g, new URL(otlp.url).host],
      [/port: 2055/g, `port: ${flows.port}`],
      [/24224/g, String(fluent.port)],
      [/port=8086/g, `port=${new URL(influx.url).port}`],
      [/port=9200/g, `port=${new URL(es.url).port}`],
      [/\/(data|tmp\/sonde|etc\/collector)\b/g, dir],
    ]
    const onLoopback = (text: string) => places.reduce((all, [there, here]) => all.replace(there, here), text)

    const config = join(dir, 'sonde.yaml')
    const sockets = join(dir, 'sockets')
    const settings = {
      // One sample: the agent's own records would change the counts each second.
      data_sources: [{ type: 'simulator', interval_ms: 3_600_000 }],
      store: { enabled: false },
      service: { enabled: true, sockets_dir: sockets, dir },
      export: documentedBlocks(onLoopback),
    }
    writeFileSync(config, JSON.stringify(settings))
    const samples = join(dir, 'exp')
    const names = switchOn(samples, onLoopback)
    const env = {
      ...{ NODE_EXTRA_CA_CERTS: ca.caFile, SONDE_SERVICE_ENABLED: undefined, XDG_STATE_HOME: dir },
      ...{ FLUENT_BIT_EXPORT_ENABLE: '1', FLUENT_BIT_CONFIG_DIR: samples },
    }
    const flags = ['--only-simulated', '--config', config]
    const check = await runSonde(['check', ...flags, '--listen', '127.0.0.1:0', '--try-destinations'], { env })
    assert.equal(check.code, 0, check.output)
    for (const name of names) assert.match(check.output, new RegExp(`^${name} +present `, 'm'))
    assert.deepEqual([bulk.documents, fluent.events, [...collector.bodies]], [[], [], []], 'no record was sent')

    const stdout = join(dir, 'stdout')
    const under = ['bash', '-c', `exec "$@" > >(tee ${stdout})`, 'bash']
    const sonde = await startSonde(['agent', ...flags], { env, under })
    t.after(() => sonde.stop('SIGKILL'))
    await train(t, sockets)
    const printed = (form: RegExp) => readFileSync(stdout, 'utf8').match(form)?.length ?? 0
    const linesIn = (name: string) => readFileSync(join(dir, name), 'utf8').match(/\n/g)?.length ?? 0
    const documentsIn = (prefix: string) =>
      [...bulk.indexes].reduce((sum, [name, { length }]) => sum + (name.startsWith(prefix) ? length : 0), 0)
    const eventsOf = (isOf: (tag: string) => boolean) => fluent.events.filter(({ tag }) => isOf(tag)).length
    const counts = async () => ({
      jsonl: collector.lines('/ports'),
      training: collector.lines('/training'),
      jsonl_3: collector.lines('/records'),
      files: recordsIn(join(dir, 'records')),
      files_2: recordsIn(join(dir, 'archive')),
      influx: await pointsIn(influx, 'sonde'),
      influx_2: collector.lines('/api/v2/write?bucket=sonde&org=ops&precision=ns'),
      es: documentsIn('sonde-'),
      file: linesIn('records.log'),
      stdout: printed(/^\d[^ ]* \w+ [^ ]+$/gm),
      netflow: flows.records.length,
      fluent_bit: eventsOf((tag) => tag.startsWith('sonde.')),
      'es.exp': documentsIn('telemetry-'),
      'file.exp': linesIn('telemetry.log'),
      'forward.exp': eventsOf((tag) => tag === 'telemetry.link'),
      'influx.exp': await pointsIn(influx, 'telemetry'),
      'stdout.exp': printed(/^sonde: \[/gm),
      'stdout_raw.exp': printed(/^\{"timestamp":/gm),
    })
    let far: Readonly<Record<string, number>> = {}
    let sent: Readonly<Record<string, number | undefined>> = {}
    await until(
      () => `the far ends have what the ledger says: ${JSON.stringify({ far, sent })}\n${sonde.output().slice(-2000)}`,
      LIMIT_MS,
      async () => {
        far = await counts()
        const page = await metricsOf(sonde)
        const seriesOf = (name: string, what: string) => numberOn(page, `sonde_sink_${what}{sink="${name}"}`)
        sent = Object.fromEntries(Object.keys(far).map((name) => [name, seriesOf(name, 'records_out_total')]))
        const isSettled = Object.keys(far).every((name) => seriesOf(name, 'records_in_total') === sent[name])
        return isSettled && isDeepStrictEqual(far, sent)
      },
    )
    const records = Object.entries(far).filter(([name]) => !name.endsWith('.exp'))
    for (const [name, count = 0] of records)
      assert.ok(count >= (name === 'jsonl' ? 1 : TRAINING_RECORDS), `${name}: ${count}`)
    assert.equal(far.training, TRAINING_RECORDS + 1, 'its steps and one log record')
    for (const series of ['step_tokens_total{cluster="a"}', 'step_tokens_total{cluster=""}'])
      await until(
        `VictoriaMetrics has ${series}`,
        LIMIT_MS,
        async () => (await lastIn(victoria, series)) === LAST_TOKENS,
      )
    for (const name of names) assert.ok((far[name] ?? 0) > 0, name)
    checkOtlp(otlp)
    await assertStops(sonde)
    assert.deepEqual(bulk.malformed, [])
  },
)

/** The destinations of all blocks of the page, in lists. */
function documentedBlocks(onLoopback: (text: string) => string): Record<string, object[]> {
  const page = readFileSync(join(root, 'docs/destinations.md'), 'utf8')
  const all: Record<string, object[]> = {}
  for (const [, text = ''] of page.matchAll(/^```yaml\n(.*?)^```$/gms)) {
    const blocks = (parse(onLoopback(text)) as { export: Blocks }).export
    for (const [kind, block] of Object.entries(blocks))
      all[kind] = [...(all[kind] ?? []), ...[block].flat().map((one) => ({ sources: ['!self'], ...one }))]
  }
  return all
}

/** Copies the samples, switched on, and returns their names. */
function switchOn(dir: string, onLoopback: (text: string) => string): string[] {
  mkdirSync(dir)
  copyFileSync(join(SAMPLES, 'ufm_enterprise.fset'), join(dir, 'ufm_enterprise.fset'))
  const files = globSync('*.exp', { cwd: SAMPLES })
  for (const file of files) {
    const text = onLoopback(readFileSync(join(SAMPLES, file), 'utf8'))
      .replace('enable=0', 'enable=1')
      .replace('# plugin_tag_match_pair', 'plugin_tag_match_pair')
    writeFileSync(join(dir, file), `${text}\nfieldset=ufm_enterprise.fset\n`)
  }
  return files
}

/** Reports the records of an application with the tag of the page. */
async function train(t: TestContext, socketsDir: string): Promise<void> {
  const schema = createSchema({ name: 'llm', ipc: { socketsDir } })
  t.after(() => schema.close())
  schema.addType(step)
  await schema.start()
  const source = schema.createSource({ id: 'rank0', tag: 'training' })
  const time = wallNs()
  for (let i = 0; i < TRAINING_RECORDS; i++)
    source.report(step, { time: time + BigInt(i) * 1000n, job: 'a', tokens_total: i })
  const attributes = { rank: 3, job: 'a' }
  reportLog(source, { level: 'error', body: 'lost a rank', attributes, ...TRACE, time })
  await schema.flush()
}

const TRACE = { traceId: '5b8efff798038103d269b633813fc60c', spanId: 'eee19b7ec3c1b174' }

/** Records without metrics and log records have no points; each of the application has one. */
function checkOtlp(receiver: OtlpReceiver): void {
  const steps = receiver.points().filter(({ scope }) => scope === 'step')
  const sum = steps.reduce((all, { point }) => all + Number(point.asInt), 0)
  assert.deepEqual([steps.length, sum], [TRAINING_RECORDS, (TRAINING_RECORDS * (TRAINING_RECORDS - 1)) / 2])
  assert.equal(steps[0]?.resource['service.name'], 'gpu-node')
  const [log, ...others] = receiver.logs()
  assert.deepEqual(others, [])
  assert.deepEqual([log?.body?.stringValue, log?.severityNumber], ['lost a rank', 17])
  assert.deepEqual(attributesOf(log?.attributes), { rank: '3', job: 'a' })
  const ids = [log?.traceId, log?.spanId].map((id = '') => Buffer.from(id, 'base64').toString('hex'))
  assert.deepEqual(ids, [TRACE.traceId, TRACE.spanId])
}

/** A server with TLS that keeps bodies by path; `/records` wants a certificate and a password. */
async function startCollector(t: TestContext, ca: TestCa) {
  const { cert, key } = ca.sign('collector', 'IP:127.0.0.1')
  const [certificate, own, trusted] = [cert, key, ca.caFile].map((file) => readFileSync(file))
  const bodies = new Map<string, string>()
  const options = { cert: certificate, key: own, ca: trusted, requestCert: true, rejectUnauthorized: false }
  const server = createServer(options, async (request, response) => {
    const path = request.url ?? ''
    const pieces = await request.toArray()
    const body = Buffer.concat(pieces)
    const { authorization, 'content-encoding': encoding } = request.headers
    const wanted = { '/records': basic, '/api/v2/write?bucket=sonde&org=ops&precision=ns': 'Bearer example-token' }[
      path
    ]
    const isShown = path !== '/records' || (request.socket as TLSSocket).authorized
    if (authorization !== wanted || !isShown) response.writeHead(401).end()
    else {
      bodies.set(path, (bodies.get(path) ?? '') + (encoding === 'gzip' ? gunzipSync(body) : body))
      response.writeHead(204).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const lines = (path: string) => bodies.get(path)?.match(/\n/g)?.length ?? 0
  return { port: (server.address() as AddressInfo).port, bodies, lines }
}

const basic = `Basic ${Buffer.from('node:s3cret').toString('base64')}`

function recordsIn(dataRoot: string): number {
  return readFiles(dataRoot).reduce((sum, { batches }) => sum + batches.reduce((all, { count }) => all + count, 0), 0)
}

/** The newest value of a series, as text; undefined without one. */
async function lastIn(url: string, series: string): Promise<string | undefined> {
  const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(series)}`)
  const { data } = (await answer.json()) as { data: { result: { value: [number, string] }[] } }
  return data.result[0]?.value[1]
}

async function pointsIn({ query }: InfluxPeer, database: string): Promise<number> {
  let count = 0
  for (const { name } of await query('SHOW MEASUREMENTS', database))
    count += (await query(`SELECT * FROM "${name}"`, database)).length
  return count
}
