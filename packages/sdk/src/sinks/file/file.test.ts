import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/files-rig.ts'
import { sondeError, until } from '../../../test/helper.ts'
import { BatchSource } from '../../../test/sink-records.ts'
import { testSink } from '../../../test/test-sink.ts'
import { createFile } from './file.ts'

type Line = Readonly<Record<string, unknown>>

const linesOf = (text: string): Line[] => text.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line)))

testSink('file', 'view', (t, limits) => {
  const path = join(temporaryFolder(t), 'new', 'records.log')
  const { concurrency: _one, ...rest } = limits
  return {
    sink: createFile({ path, ...rest }),
    read(type, field) {
      const lines = linesOf(
        (existsSync(path) ? readFileSync(path, 'utf8') : '').replace(/("\w+"):(\d{16,})/g, '$1:"$2"'),
      )
      const of = lines.filter((line) => line.type_name === type.name && field in line)
      return of.map((line) => [String(line.device), BigInt(String(line[field]))])
    },
  }
})

test('a file at its limit becomes file.1, and the oldest goes; no line is cut', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'records.log')
  const sink = createFile({ path, limitBytes: 65_536, filesMax: 3, lingerMs: 0 })
  t.after(() => sink.close())
  const source = new BatchSource()
  const devices = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`eth${i}`, i]))
  for (let round = 0; round < 20; round++) {
    sink.accept(source.ports(devices))
    await sink.flush()
  }
  assert.deepEqual(readdirSync(folder).sort(), ['records.log', 'records.log.1', 'records.log.2'])
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), 'utf8')
    assert.ok(text.length <= 65_536)
    assert.equal(linesOf(text).length % 100, 0)
  }
  assert.equal(statSync(path).mode & 0o777, 0o600)
})

test('a torn line of a killed process is ended, and a file that was moved away is made again', async (t) => {
  const path = join(temporaryFolder(t), 'records.log')
  writeFileSync(path, '{"torn":')
  const sink = createFile({ path, lingerMs: 0, format: 'template', template: '{device}' })
  t.after(() => sink.close())
  const source = new BatchSource()
  sink.accept(source.ports({ a: 1 }))
  await sink.flush()
  assert.equal(readFileSync(path, 'utf8'), '{"torn":\na\n')
  rmSync(path)
  sink.accept(source.ports({ b: 1 }))
  await sink.flush()
  assert.equal(readFileSync(path, 'utf8'), 'b\n')
})

test('a full disk loses nothing: the part that was written is taken back, and written again later', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can mount a small disk')
  const folder = mkdtempSync(join(tmpdir(), 'sonde-small-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', folder], { stdio: 'ignore' })
  } catch {
    rmSync(folder, { recursive: true })
    return t.skip('no disk can be mounted here')
  }
  t.after(() => {
    execFileSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true })
  })
  const path = join(folder, 'records.log')
  const sink = createFile({ path, lingerMs: 0, backoffInitialMs: 10, backoffMaxMs: 20 })
  t.after(() => sink.close())
  const source = new BatchSource()
  writeFileSync(join(folder, 'ballast'), Buffer.alloc(48 << 10))
  const devices = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`eth${i}`, i]))
  sink.accept(source.ports(devices))
  await until('the disk is full', () => /ENOSPC/.test(sink.failing))
  await until('nothing of the write is left', () => statSync(path).size === 0)
  rmSync(join(folder, 'ballast'))
  await sink.flush()
  assert.deepEqual([linesOf(readFileSync(path, 'utf8')).length, sink.stats.out], [300, 300])
})

test('writes to no link, pipe or device, and says so', async (t) => {
  const folder = temporaryFolder(t)
  const [pipe, link, target] = ['pipe', 'link', 'target'].map((name) => join(folder, name)) as [string, string, string]
  execFileSync('mkfifo', [pipe])
  writeFileSync(target, '')
  symlinkSync(target, link)
  for (const [path, words] of [
    [pipe, /no regular file/],
    [link, /ELOOP/],
    ['/dev/null', /no regular file/],
  ] as const) {
    const sink = createFile({ path, lingerMs: 0, attemptsMax: 1 })
    sink.accept(new BatchSource().ports({ a: 1 }))
    await assert.rejects(sink.flush(), words)
    await sink.close()
  }
  assert.equal(readFileSync(target, 'utf8'), '')
})

test('refuses options that do not go together', () => {
  const refused = (part: RegExp) => sondeError('OUT_OPTION', part)
  assert.throws(() => createFile({ path: '' }), refused(/^path of file is ""; allowed: text of 1 to 4096/))
  assert.throws(
    () => createFile({ path: 'a', format: 'template' }),
    refused(/^template of file is missing; allowed: the text/),
  )
  assert.throws(
    () => createFile({ path: 'a', template: '{a}' }),
    refused(/^format of file is json_lines; allowed: templ/),
  )
  assert.throws(
    () => createFile({ path: 'a', filesMax: 0 }),
    refused(/^filesMax of file is 0; allowed: a whole number/),
  )
})
