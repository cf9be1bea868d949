import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createStore } from '@sonde/console'
import {
  createFiles,
  createSchema,
  createSource,
  defineType,
  gauge,
  label,
  reportOpaque,
  type Source,
  text,
  timestamp,
  value,
  wallNs,
} from '@sonde/sdk'
import { shellWord } from '@sonde/sdk/internal'
import { Random } from '../../packages/sdk/test/random.ts'
import { ask } from '../ask.ts'
import { EVERY_KIND, everyKindRecord } from '../dtb/every-kind.ts'
import { SONDE_READ, sondeRead } from '../dtb/sonde-read.ts'
import { startSonde, temporaryDir } from '../sonde-process.ts'

const HOUR_NS = 3_600_000_000_000n

const eventType = defineType('shop_event', 'What happened', {
  time: timestamp(),
  door: label('Which door'),
  code: value('u64', { help: 'A number that is no metric' }),
  words: text({ help: 'What was said' }),
})

const visitType = defineType('shop_visit', 'Who came', {
  time: timestamp(),
  guests: gauge('u32'),
  name: text(),
})

interface ListedType {
  readonly name: string
  readonly live: boolean
  readonly fields: readonly { readonly name: string }[]
  readonly records: readonly { readonly name: string }[]
  readonly read: string
}

/** What a command prints that a person pastes into a shell, where `npx` runs the sources. */
function inShell(command: string): string {
  const npx = `npx() { shift 2; ${SONDE_READ.map(shellWord).join(' ')} "$@"; }`
  return execFileSync('sh', ['-c', `${npx}; ${command}`], { encoding: 'utf8' })
}

function folder(t: TestContext): string {
  const dir = temporaryDir()
  t.after(dir.remove)
  return dir.path
}

/**
 * The lines that a command printed, by type and source: the order between these is not the same for files and store.
 */
function linesOf({ code, stdout, stderr }: ReturnType<typeof sondeRead>): Map<string, string[]> {
  assert.deepEqual([code, stderr], [0, ''])
  const lines = stdout.split('\n').slice(0, -1)
  return Map.groupBy(lines, (line) => line.slice(0, line.indexOf('"record":')))
}

test('what a store keeps is printed as the files of the same records are, from chunks and from the head', async (t) => {
  const dir = folder(t)
  const store = await createStore({ path: join(dir, 'store.db') })
  const files = createFiles({ dataRoot: join(dir, 'files') })
  t.after(() => Promise.all([store.close(), files.close()]))
  const random = new Random(21)
  const sources = ['one', 'two'].map((id) => {
    const labels = id === 'two' ? { worker: '3' } : {}
    return createSource({ id, tag: 'kinds', labels, emit: (batch) => [store, files].map((sink) => sink.accept(batch)) })
  })
  const report = (count: number, startNs: bigint) => {
    for (let i = 0; i < count; i++) {
      // Not in the order of their times: they come back in the order in which they came.
      const timeNs = startNs + BigInt(random.integer(0, 1_000_000_000))
      for (const type of EVERY_KIND) random.pick(sources).report(type, everyKindRecord(random, type, timeNs))
    }
    for (const source of sources) source.flush()
  }
  const now = wallNs()
  report(60, now - 5n * HOUR_NS)
  await store.flush()
  await store.maintain()
  report(30, now - 3n * HOUR_NS)
  await store.flush()
  await store.maintain()
  report(30, now - 2_000_000_000n)
  await Promise.all([store.flush(), files.flush()])
  const asFiles = linesOf(sondeRead(join(dir, 'files')))
  assert.equal(asFiles.size, 2 * EVERY_KIND.length)
  assert.deepEqual(linesOf(sondeRead('--store', dir)), asFiles, 'while it is open')
  await Promise.all([store.close(), files.close()])
  assert.deepEqual(linesOf(sondeRead('--store', join(dir, 'store.db'))), asFiles, 'closed')
})

test('texts, values and opaque data sent to sonde up are listed by the API and read back while it runs, and after', async (t) => {
  const dir = folder(t)
  const data = join(dir, 'its data')
  mkdirSync(join(dir, 'run'))
  const before = await createStore({ path: join(data, 'store.db') })
  const earlier = createSource({ id: 'earlier', tag: 'south', emit: (batch) => before.accept(batch) })
  earlier.report(visitType, { time: wallNs(), guests: 3, name: 'Ada' })
  earlier.flush()
  await before.close()
  const sonde = await startSonde(['up', '--data-dir', data, '--only-simulated', '--simulate-class=small'], {
    env: { SONDE_SERVICE_ENABLED: 'true', XDG_RUNTIME_DIR: join(dir, 'run') },
  })
  t.after(() => sonde.stop('SIGKILL'))
  const schema = createSchema({ name: 'shop', opaqueEvents: true, ipc: { socketsDir: join(dir, 'run', 'sonde') } })
  schema.addType(eventType)
  await schema.start()
  const source: Source = schema.createSource({ id: 'shop', tag: 'north' })
  const code = 2n ** 64n - 1n
  for (let i = 0; i < 1000; i++) {
    source.report(eventType, { time: wallNs(), door: `d${i % 7}`, code: code - BigInt(i), words: `said ${i}` })
  }
  reportOpaque(source, { appId: '9910c128-3961-47e6-be6c-715a0f03add6', data: Uint8Array.of(1, 0, 255) })
  await source.flush()

  const { types } = await ask<{ types: ListedType[] }>(sonde, '/api/v1/types')
  const listed = types.find(({ name }) => name === 'shop_event')
  const kept = types.find(({ name }) => name === 'shop_visit')
  const nothing = { unit: '', count: 1, role: 'value', class: 'core' }
  assert.deepEqual(listed?.records, [
    { ...nothing, name: 'code', kind: 'u64', help: 'A number that is no metric' },
    { ...nothing, name: 'words', kind: 'symbol', help: 'What was said' },
  ])
  assert.deepEqual([listed?.live, kept?.live], [true, false])
  assert.deepEqual(
    [kept?.fields, kept?.records].map((fields) => fields?.map(({ name }) => name)),
    [['guests'], ['name']],
  )
  assert.equal(kept?.read, `npx sonde read --store '${data}' --type shop_visit`)
  assert.match(inShell(kept.read), /^{"type":"shop_visit",.*"guests":3,"name":"Ada"}}\n$/)
  assert.equal(inShell(listed?.read ?? '').split('\n').length, 1001)

  const check = () => {
    const [lines = []] = linesOf(sondeRead('--store', data, '--type', 'shop_event')).values()
    assert.equal(lines.length, 1000)
    for (const [i, line] of lines.entries()) {
      assert.ok(line.endsWith(`"door":"d${i % 7}","code":${code - BigInt(i)},"words":"said ${i}"}}`), line)
    }
    const opaque = sondeRead('--store', data, '--source', 'shop', '--type', 'sonde_opaque_*').stdout
    const { record } = JSON.parse(opaque)
    assert.deepEqual([record.size, record.data.slice(0, 4)], [3, [1, 0, 255, 0]])
  }
  check()
  await schema.close()
  assert.equal(await sonde.stop(), 0, sonde.output())
  check()
})

test('the filters, the formats and the faults of read --store are those of files', async (t) => {
  const dir = folder(t)
  const store = await createStore({ path: join(dir, 'store.db') })
  const source = createSource({ id: 'shop', tag: 'north', emit: (batch) => store.accept(batch) })
  const startNs = wallNs() - 4n * HOUR_NS
  for (let i = 0; i < 10; i++) {
    source.report(eventType, { time: startNs + BigInt(i) * 1_000_000_000n, door: 'd', code: i, words: `w${i}` })
  }
  source.report(defineType('other', 'Another', { time: timestamp(), x: gauge('f64') }), { time: startNs, x: 1 })
  source.flush()
  await store.flush()
  await store.maintain()
  await store.close()
  const read = (...args: string[]) => sondeRead('--store', dir, ...args)
  const at = (i: number) => new Date(Number(startNs / 1_000_000n) + i * 1000).toISOString()
  const within = read('--type', 'shop_event', '--start', at(2), '--end', at(4)).stdout
  assert.deepEqual(
    [...within.matchAll(/"words":"(\w+)"/g)].map(([, word]) => word),
    ['w2', 'w3'],
  )
  assert.equal(read('--limit', '3').stdout.split('\n').length, 4)
  const [title, first] = read('--type', 'shop_event', '--format', 'csv').stdout.split('\n')
  assert.equal(title, 'source,tag,labels,time,door,code,words')
  assert.equal(first, `shop,north,,${startNs},d,0,w0`)
  assert.match(read('--stats', '--format', 'table').stdout, /^shop +north +10 .* shop_event$/m)
  assert.match(
    read('--type', 'shop_evnt').stderr,
    /shop_evnt fits nothing \(did you mean shop_event\?\); there is: other,/,
  )
  assert.deepEqual(read('--follow').code, 2)
  assert.match(read('--verify').stderr, /--verify is for files of records/)
  assert.match(sondeRead('--store', join(dir, 'no')).stderr, /^sonde: .*no cannot be read: it is not there/)
  assert.equal(sondeRead('--store', join(dir, 'no')).code, 1)
  assert.equal(sondeRead().code, 2)
})
