import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { counter, label } from '../schema/field.ts'
import { defineType } from '../schema/record-type.ts'
import { FieldSets } from './field-sets.ts'
import type { FieldSet } from './fieldset.ts'

const port = defineType('port', '', { device: label(), rx: counter('u64'), tx: counter('u64') })
const other = defineType('other', '', { device: label(), rx: counter('u64'), tx: counter('u64') })
const namesOf = (set: FieldSet | undefined, type = port) =>
  set
    ?.of(type)
    .slots.map(({ name }) => name)
    .join(' ')

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-sets-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

function setsOf(dir: string) {
  const told: string[] = []
  return {
    told,
    sets: new FieldSets({ csetDir: dir, onFault: ({ code, message }) => told.push(`${code} ${message}`) }),
  }
}

test('a folder serves for both kinds, and a name that has both files has both filters', async (t) => {
  const dir = folder(t)
  const { sets } = setsOf(dir)
  writeFileSync(join(dir, 'a.cset'), 'rx')
  writeFileSync(join(dir, 'a.fset'), '[port]\ntx')
  assert.equal(namesOf(await sets.find('a', 'cset')), 'device rx')
  assert.equal(namesOf(await sets.find('a', 'fset')), 'device tx')
  const both = await sets.find('a')
  assert.equal(namesOf(both), 'device tx')
  assert.equal(namesOf(both, other), 'device rx')
  assert.equal(await sets.find('a'), both)
  assert.equal(await sets.find('b'), undefined)
})

test('a file that changes, comes or goes is seen at the next request', async (t) => {
  const dir = folder(t)
  const { sets, told } = setsOf(dir)
  assert.equal(await sets.find('a'), undefined)
  writeFileSync(join(dir, 'a.cset'), 'rx')
  const first = await sets.find('a')
  assert.equal(await sets.find('a'), first)
  writeFileSync(join(dir, 'new'), 'tx')
  renameSync(join(dir, 'new'), join(dir, 'a.cset'))
  assert.equal(namesOf(await sets.find('a')), 'device tx')
  rmSync(join(dir, 'a.cset'))
  assert.equal(await sets.find('a'), undefined)
  assert.deepEqual(told, [])
})

test('versions that differ in nothing but what they say are told apart, however quickly they follow each other', async (t) => {
  const dir = folder(t)
  const { sets, told } = setsOf(dir)
  for (let i = 0; i < 200; i++) {
    const field = i % 2 === 0 ? 'rx' : 'tx'
    writeFileSync(join(dir, 'a.cset'), field)
    assert.equal(namesOf(await sets.find('a')), `device ${field}`)
  }
  assert.equal(await sets.find('a'), await sets.find('a'))
  assert.deepEqual(told, [])
})

test('a broken file keeps its last good version and is told once a version, with file and line', async (t) => {
  const dir = folder(t)
  const { sets, told } = setsOf(dir)
  const file = join(dir, 'a.cset')
  writeFileSync(file, 'rx')
  assert.equal(namesOf(await sets.find('a')), 'device rx')
  writeFileSync(file, 'rx\nt^x')
  const answers = await Promise.all([sets.find('a'), sets.find('a'), sets.find('a')])
  assert.deepEqual(
    answers.map((set) => namesOf(set)),
    ['device rx', 'device rx', 'device rx'],
  )
  assert.equal(namesOf(await sets.find('a')), 'device rx')
  assert.deepEqual(told, [`SET_SYNTAX ${file}:2:2 is ^ inside a token; allowed: it begins a token, or is written \\^`])
  assert.deepEqual([sets.faults, sets.broken], [1, 1])
  writeFileSync(file, 'tx')
  assert.equal(namesOf(await sets.find('a')), 'device tx')
  assert.deepEqual([sets.faults, sets.broken, told.length], [1, 0, 1])
})

test('broken files that nobody asks for any more are no longer counted once they are mended or gone', async (t) => {
  const dir = folder(t)
  const { sets } = setsOf(dir)
  for (const name of ['a', 'b', 'c']) {
    writeFileSync(join(dir, `${name}.cset`), 'a b')
    await assert.rejects(sets.find(name), { code: 'SET_SYNTAX' })
  }
  assert.equal(sets.broken, 3)
  writeFileSync(join(dir, 'a.cset'), 'mended')
  rmSync(join(dir, 'b.cset'))
  assert.equal(await sets.find('d'), undefined)
  assert.deepEqual([sets.broken, sets.faults], [1, 3])
})

test('a check tells how many files there are, and what is wrong with which', async (t) => {
  const dir = folder(t)
  const { sets } = setsOf(dir)
  for (const [file, text] of Object.entries({ 'a.cset': 'rx', 'b.cset': 'a b', 'c.fset': 'a' }))
    writeFileSync(join(dir, file), text)
  const { files, faults } = await sets.check()
  assert.equal(files, 3)
  assert.deepEqual(
    faults.map((fault) => fault.slice(dir.length + 1, dir.length + 11)),
    ['b.cset:1:2', 'c.fset:1:1'],
  )
})

test('a file that never could be used is an error, not an empty answer', async (t) => {
  const dir = folder(t)
  const { sets, told } = setsOf(dir)
  writeFileSync(join(dir, 'a.cset'), 'a b')
  for (let i = 0; i < 2; i++) await assert.rejects(sets.find('a'), { code: 'SET_SYNTAX' })
  assert.equal(told.length, 1)
})

test('links stay within the folder, as those of a ConfigMap do', async (t) => {
  const dir = folder(t)
  const { sets, told } = setsOf(dir)
  mkdirSync(join(dir, '..v1'))
  writeFileSync(join(dir, '..v1', 'a.cset'), 'rx')
  symlinkSync('..v1', join(dir, '..data'))
  symlinkSync('..data/a.cset', join(dir, 'a.cset'))
  assert.equal(namesOf(await sets.find('a')), 'device rx')
  mkdirSync(join(dir, '..v2'))
  writeFileSync(join(dir, '..v2', 'a.cset'), 'tx')
  symlinkSync('..v2', join(dir, '..new'))
  renameSync(join(dir, '..new'), join(dir, '..data'))
  assert.equal(namesOf(await sets.find('a')), 'device tx')

  symlinkSync('/etc/hostname', join(dir, 'out.cset'))
  await assert.rejects(sets.find('out'), { code: 'SET_READ', message: /leads out of its folder/ })
  symlinkSync('loop.cset', join(dir, 'loop.cset'))
  await assert.rejects(sets.find('loop'), { code: 'SET_READ' })
  assert.equal(told.length, 2)
})

test('what is no file, too large, no text, or not ours to read is an error; a pipe does not keep it waiting', async (t) => {
  const dir = folder(t)
  const { sets } = setsOf(dir)
  mkdirSync(join(dir, 'folder.cset'))
  await assert.rejects(sets.find('folder'), { code: 'SET_READ' })
  assert.equal(spawnSync('mkfifo', [join(dir, 'pipe.cset')]).status, 0)
  await assert.rejects(sets.find('pipe'), { code: 'SET_READ', message: /is no regular file/ })
  writeFileSync(join(dir, 'large.cset'), 'a\n'.repeat(40_000))
  await assert.rejects(sets.find('large'), { code: 'SET_LIMIT', message: /larger than 65536 bytes/ })
  writeFileSync(join(dir, 'latin.cset'), Buffer.from([0x61, 0xe9]))
  await assert.rejects(sets.find('latin'), { code: 'SET_READ', message: `${join(dir, 'latin.cset')} is no UTF-8 text` })
  writeFileSync(join(dir, 'secret.cset'), 'rx')
  chmodSync(join(dir, 'secret.cset'), 0)
  if (process.getuid?.() !== 0) await assert.rejects(sets.find('secret'), { code: 'SET_READ', message: /EACCES/ })
})

test('names lead nowhere else', async (t) => {
  const dir = folder(t)
  mkdirSync(join(dir, 'in'))
  writeFileSync(join(dir, 'a.cset'), 'rx')
  const { sets } = setsOf(join(dir, 'in'))
  for (const name of ['../a', '..', '.', '', '.a', 'a/b', 'a\0', 'a\\b', 'é', 'a'.repeat(129)]) {
    assert.equal(await sets.find(name), undefined, name)
  }
})

test('who asks for what is not there is told what there is', async (t) => {
  const dir = folder(t)
  const { sets } = setsOf(dir)
  await assert.rejects(sets.get('b'), { code: 'SET_UNKNOWN', message: 'there is no field set "b"; there are none' })
  for (const file of ['a.cset', 'a.fset', 'c.cset', 'é.cset', 'notes.txt']) writeFileSync(join(dir, file), '')
  const message = 'there is no .fset "b"; there are: /cset/a, /cset/c, /fset/a'
  await assert.rejects(sets.get('b', 'fset'), { code: 'SET_UNKNOWN', message })
  for (let i = 0; i < 60; i++) writeFileSync(join(dir, `n${i}.cset`), '')
  await assert.rejects(sets.get('b'), /and 13 more$/)
  await assert.rejects(new FieldSets({}).get('b'), { code: 'SET_UNKNOWN', message: /no folder of field sets is set/ })
})

test('a folder that is not there is told at the start, to who asks and who checks, with the variables that name it', async (t) => {
  const dir = join(folder(t), 'later')
  const { sets, told } = setsOf(dir)
  const fault = `folder ${dir} of field sets is not there; PROMETHEUS_CSET_DIR and PROMETHEUS_FSET_DIR name it`
  await sets.tellMissing()
  assert.deepEqual(told, [`SET_FOLDER ${fault}`])
  await assert.rejects(sets.get('b'), { message: `there is no field set "b"; there are none; ${fault}` })
  assert.deepEqual(await sets.check(), { files: 0, faults: [fault] })
  mkdirSync(dir)
  assert.deepEqual(await sets.check(), { files: 0, faults: [] })
  await assert.rejects(new FieldSets({}).get('b'), /PROMETHEUS_CSET_DIR/)
})

test('a file with a name that nobody can ask for is mentioned by who checks', async (t) => {
  const dir = folder(t)
  for (const file of ['a.cset', 'sp ace.cset', 'notes.txt']) writeFileSync(join(dir, file), '')
  const { files, faults } = await setsOf(dir).sets.check()
  assert.equal(files, 1)
  assert.deepEqual(
    faults.map((fault) => fault.slice(0, fault.indexOf(' has a name'))),
    [join(dir, 'sp ace.cset')],
  )
})
