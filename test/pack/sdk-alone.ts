import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { cpSync, globSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { root } from '../../scripts/setup.mjs'

/** The shared parts of these tests. */
export interface Packed {
  /** Folder of the archives, once they are there. */
  readonly archives: string
  /** An empty folder of the tests' own. */
  readonly user: string
  /** Nodes by version. */
  readonly nodes: Readonly<Record<string, () => string>>
  install(cwd: string, specs: readonly string[]): void
  run(command: string, args: readonly string[], cwd: string): string
}

/** A jump beyond it means that the archive has something that no application needs. */
const UNPACKED_BYTES_LIMIT = 1_500_000
/** Of the programs of an application: to start and to do all they do. */
const RUN_LIMIT_MS = 60_000

/** The SDK alone in an empty project, as an application has it: installed once, for all tests of this file. */
export function testSdkAlone(packed: Packed): void {
  const { user, nodes, run } = packed
  const folder = join(user, 'node_modules/@sonde/sdk')
  let isInstalled = false
  const install = () => {
    if (isInstalled) return
    const archive = readdirSync(packed.archives).find((name) => name.includes('sdk'))
    packed.install(user, [join(packed.archives, archive ?? 'no archive of the SDK')])
    isInstalled = true
  }

  test('the SDK installs alone: small, without native code, and without scripts that run at install', () => {
    install()
    const files = globSync('**/*', { cwd: folder }).map((name) => join(folder, name))
    const bytes = files.reduce((sum, file) => sum + (statSync(file).isFile() ? statSync(file).size : 0), 0)
    assert.ok(bytes <= UNPACKED_BYTES_LIMIT, `${bytes} bytes unpacked; allowed: ${UNPACKED_BYTES_LIMIT}`)
    for (const manifest of globSync('node_modules/{*,@*/*}/package.json', { cwd: user })) {
      const { name, scripts = {}, gypfile } = JSON.parse(readFileSync(join(user, manifest), 'utf8'))
      const atInstall = ['preinstall', 'install', 'postinstall'].filter((script) => script in scripts)
      assert.deepEqual([atInstall, gypfile], [[], undefined], `${name} runs something when it is installed`)
    }
    assert.deepEqual(globSync('node_modules/**/*.{node,gyp,c,cc,so}', { cwd: user }), [])
  })

  test('a strict TypeScript application compiles against the SDK alone; wrong fields do not', () => {
    install()
    const compilerOptions = {
      target: 'es2024',
      module: 'nodenext',
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
      declaration: true,
      outDir: 'out',
    }
    const files = ['application.ts', 'common.cts']
    writeFileSync(join(user, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    writeFileSync(join(user, 'application.ts'), TYPED)
    writeFileSync(join(user, 'common.cts'), COMMON_JS)
    run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', user], user)
  })

  test('an application cannot import what is for the packages of Sonde', () => {
    install()
    assert.deepEqual(Object.keys(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).exports), [
      '.',
      './api',
      './client',
    ])
    const program = "import('@sonde/sdk/internal').catch(({ code }) => console.log(code))"
    assert.equal(run(process.execPath, ['--eval', program], user), 'ERR_PACKAGE_PATH_NOT_EXPORTED\n')
  })

  for (const [version, find] of Object.entries(nodes)) {
    test(`a program of CommonJS that TypeScript made requires the SDK under Node ${version}`, () => {
      assert.equal(run(find(), [join(user, 'out/common.cjs')], user), 'bakery is started\n')
    })

    test(`a JavaScript application reports through a schema under Node ${version}`, () => {
      install()
      writeFileSync(join(user, 'application.js'), UNTYPED)
      const data = join(user, `data-${version}`)
      assert.equal(run(find(), [join(user, 'application.js'), data], user), APPLICATION_PRINTS)
      assert.equal(globSync('**/*.bin', { cwd: data }).length, 1, 'a file of records')
    })

    test(`the examples run from an installed SDK under Node ${version}`, async (t) => {
      install()
      cpSync(join(root, 'examples'), join(user, 'examples'), { recursive: true })
      const url = await startReceiver(t)
      const flows = ['127.0.0.1', await startCollector(t), 'ipfix']
      for (const name of globSync('*.ts', { cwd: join(user, 'examples'), exclude: ['*.test.ts'] })) {
        const place = join(user, `example-${version}`)
        const args = /^(push-records|destinations|metrics-client)/.test(name)
          ? [url, url]
          : name === 'netflow-export.ts'
            ? flows
            : [place]
        const line = await firstLine(t, find(), [join(user, 'examples', name), ...args])
        assert.match(line, EXAMPLES_PRINT[name] ?? /^http:/, name)
      }
    })
  }
}

/** What an example says first, where it is no address. `app-over-ipc` and `metrics-client` find no agent. */
const EXAMPLES_PRINT: Readonly<Record<string, RegExp>> = {
  'app-over-ipc.ts': /no service|nobody|connect/i,
  'destinations.ts': /^loads: 2 records arrived/,
  'metrics-client.ts': /^CLT_ANSWER: /,
  'netflow-export.ts': /^1000 flows sent to netflow$/,
  'opaque-events.ts': /bytes: /,
  'push-records.ts': /^2 records arrived/,
}

async function startReceiver(t: TestContext): Promise<string> {
  const server = createServer((request, response) => request.resume().once('end', () => response.end()))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** Takes flows. */
async function startCollector(t: TestContext): Promise<string> {
  const socket = createSocket('udp4')
  t.after(() => socket.close())
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return String(socket.address().port)
}

/** The first line that a program prints; it is ended then. */
async function firstLine(t: TestContext, node: string, args: readonly string[]): Promise<string> {
  // A receiver of webhooks needs a key.
  const env = {
    ...process.env,
    PORT: '0',
    NODE_OPTIONS: '',
    SIGNING_KEYS: '00112233445566778899aabbccddeeff'.repeat(2),
  }
  const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
  const ended = once(child, 'close')
  t.after(() => child.kill('SIGKILL'))
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk
  })
  const limit = AbortSignal.timeout(RUN_LIMIT_MS)
  const line = once(createInterface({ input: child.stdout }), 'line', { signal: limit }).then(([text]) => String(text))
  const first = await Promise.race([line, ended.then(() => undefined)])
  child.kill('SIGKILL')
  await ended
  assert.ok(first !== undefined, `${args[0]} printed nothing: ${errors}`)
  return first
}

const COMMON_JS = `
import { createSchema, defineType, gauge, timestamp } from '@sonde/sdk'

async function main(): Promise<void> {
  const schema = createSchema({ name: 'bakery', export: { files: { dataRoot: 'common' } } })
  schema.addType(defineType('oven', 'An oven', { time: timestamp(), celsius: gauge('f64') }))
  await schema.start()
  console.log(schema.name, 'is', schema.status().state)
  await schema.close()
}
void main()
`

const UNTYPED = `
import { array, counter, createSchema, defineType, label, nested, readRecord, sinkStats, SondeError, timestamp, timestampUs, viewsOf } from '@sonde/sdk'

const seen = []
const sink = {
  name: 'seen',
  stats: sinkStats(),
  accept({ type, source, symbols, count, bytes }) {
    const views = viewsOf(bytes.slice())
    for (let i = 0; i < count; i++) seen.push(readRecord(type, views, i * type.layout.recordBytes, symbols))
  },
  async flush() {},
  async close() {},
}
const lane = defineType('lane', 'A lane', { errors: counter('u64') })
const schema = createSchema({ name: 'app', export: { files: { dataRoot: process.argv[2] } }, sinks: [sink] })
const link = schema.addType(defineType('link', 'A link', { time: timestamp('us'), device: label(), lanes: array(nested(lane), 2) }))
await schema.start()
const source = schema.createSource({ tag: 'js' })
const time = timestampUs()
source.report(link, { time, device: 'eth0', lanes: [{ errors: 1 }, { errors: 2n ** 60n }] })
source.reporter(link, ['device', 'lanes', 'time'])('eth1', [{ errors: 3 }, { errors: 4 }], time)
try {
  source.report(link, { time, device: 'eth0', lane: [] })
} catch (error) {
  console.log(error instanceof SondeError, error.code)
}
await source.flush()
console.log(seen.map(({ device, lanes }) => device + ' ' + lanes.map(({ errors }) => errors)).join(', '), schema.status().ack)
await schema.close()
`
const APPLICATION_PRINTS = 'true SRC_VALUE\neth0 1,1152921504606846976, eth1 3,4 durable\n'

const TYPED = `
import { array, counter, createFiles, createMetrics, createPrometheus, createSchema, createSource, delivery, defineType, gauge, label, nested, optional, type RecordOf, type Schema, timestamp, wallNs } from '@sonde/sdk'
import type { NodeAnswer } from '@sonde/sdk/api'

// Their types have names that declarations of other packages can use.
export const source = createSource({ id: 'typed', emit: () => undefined })
export const metrics = createMetrics(source)
export const jobs = metrics.counter('jobs_total', { labels: ['queue'] }).bind({ queue: 'print' })
export const seconds = metrics.histogram('seconds', { edges: [1, 2] })
export const lamp = defineType('lamp', 'A lamp', { name: label(), watts: gauge('f64') })
export const row = source.bind(lamp, { name: 'desk' })
export const views = { prometheus: createPrometheus(), files: createFiles }
export const push = delivery
export const nodeName = ({ node }: NodeAnswer) => node

const schema: Schema = createSchema({ name: 'typed', bufferBytes: 60_000, export: { files: { dataRoot: '/nowhere' } }, ipc: {} })
const lane = defineType('lane', 'A lane', { name: label(), errors: counter('u64') })
const link = schema.addType(
  defineType('link', 'A link', { time: timestamp(), speed: optional(gauge('f64')), lanes: array(nested(lane), 2) }),
)
const record: RecordOf<typeof link> = { time: wallNs(), lanes: [{ name: 'a', errors: 1n }, { name: 'b', errors: 2 }] }
export async function report(): Promise<void> {
  await schema.start()
  const source = schema.createSource({ tag: '' })
  source.report(link, record)
  source.report(link, [record, record])
  source.report(schema.indexOf(link), new Uint8Array(link.layout.recordBytes), 1)
  source.reporter(link, ['time', 'lanes'])(0, record.lanes)
  // @ts-expect-error no such field
  source.report(link, { ...record, sped: 1 })
  // @ts-expect-error a wrong field inside a record
  source.report(link, { ...record, lanes: [{ name: 1, errors: 1 }, { name: 'b', errors: 1 }] })
  // @ts-expect-error a source has a tag
  schema.createSource({ id: 'host' })
  // @ts-expect-error no counter is that wide
  counter('u128')
  const code: -1 | 0 | 1 = schema.status().ipc.code
  console.log(code)
  await schema.close()
}
`
