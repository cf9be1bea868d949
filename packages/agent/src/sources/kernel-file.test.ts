import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { type TestContext, test } from 'node:test'
import { type FailureKind, failureKind, type KernelFile, KernelFiles, ReadFailure } from './kernel-file.ts'
import { TestNode } from './test-node.ts'

const REFUSES = '/sys/class/net/lo/speed'
const DENIED = '/sys/bus/cpu/drivers_probe'

function filesOf(t: TestContext, options: object = {}) {
  const node = new TestNode(t)
  const files = new KernelFiles(node.root, options)
  t.after(() => files.close())
  return { node, files }
}

function fileText(file: KernelFile): string {
  const bytes = file.read()
  assert.ok(!(bytes instanceof ReadFailure), bytes instanceof ReadFailure ? bytes.error.message : '')
  return Buffer.from(bytes).toString()
}

function failureOf(file: KernelFile): ReadFailure {
  const failure = file.read()
  assert.ok(failure instanceof ReadFailure)
  return failure
}

test('a kept descriptor reads what the file holds now', (t) => {
  const { node, files } = filesOf(t)
  const file = files.file('class', 'mtu')
  node.write('class/mtu', '1500\n')
  assert.equal(fileText(file), '1500\n')
  node.write('class/mtu', '9\n')
  assert.equal(fileText(file), '9\n')
  assert.equal(files.openCount, 1)
})

test('a file that was replaced is opened again when its descriptor reads empty', (t) => {
  const { node, files } = filesOf(t)
  const file = files.file('mtu')
  node.write('mtu', '1500\n')
  assert.equal(fileText(file), '1500\n')
  node.remove('mtu')
  assert.equal(failureOf(file).kind, 'missing')
  assert.equal(files.openCount, 0)
  node.write('mtu', '1400\n')
  assert.equal(fileText(file), '1400\n')
})

test('a file that was deleted and made again is opened anew within sixteen reads, and so is one whose folder was moved', (t) => {
  const { node, files } = filesOf(t)
  const file = files.file('class', 'mtu')
  const readsUntil = (wanted: string) => {
    for (let reads = 1; reads <= 16; reads++) if (fileText(file) === wanted) return reads
    return Number.POSITIVE_INFINITY
  }
  node.write('class/mtu', '1500\n')
  assert.equal(fileText(file), '1500\n')
  fs.rmSync(`${node.root}/class`, { recursive: true })
  node.write('class/mtu', '1400\n')
  assert.ok(readsUntil('1400\n') <= 16)
  fs.renameSync(`${node.root}/class`, `${node.root}/former`)
  node.write('class/mtu', '9000\n')
  assert.ok(readsUntil('9000\n') <= 16)
  assert.equal(files.openCount, 1)
})

test('a file is opened again on request', (t) => {
  const { node, files } = filesOf(t)
  const file = files.file('mtu')
  node.write('mtu', '1500\n')
  fileText(file)
  node.unlink('mtu')
  assert.equal(fileText(file), '1500\n')
  const anew = file.readAnew()
  assert.ok(anew instanceof ReadFailure && anew.kind === 'missing')
})

test('files that are read together are not all opened anew by the same sweep', (t) => {
  const { node, files } = filesOf(t)
  const all = Array.from({ length: 32 }, (_, i) => {
    node.write(`${i}`, 'kept\n')
    return files.file(`${i}`)
  })
  for (const file of all) fileText(file)
  for (let i = 0; i < 32; i++) {
    fs.rmSync(`${node.root}/${i}`)
    node.write(`${i}`, 'new\n')
  }
  const seen = Array.from({ length: 16 }, () => all.filter((file) => fileText(file) === 'new\n').length)
  assert.deepEqual(
    seen,
    Array.from({ length: 16 }, (_, sweep) => 2 * (sweep + 1)),
  )
})

test('a descriptor that is no longer ours is forgotten, and the file opened again', (t) => {
  const { node, files } = filesOf(t)
  const file = files.file('mtu')
  node.write('mtu', '1500\n')
  assert.equal(fileText(file), '1500\n')
  const targets = fs.readdirSync('/proc/self/fd').map((fd) => `/proc/self/fd/${fd}`)
  const own = targets.find((path) => fs.existsSync(path) && fs.readlinkSync(path) === file.path)
  assert.ok(own)
  fs.closeSync(Number(own.slice('/proc/self/fd/'.length)))
  assert.equal(fileText(file), '1500\n')
  assert.equal(files.openCount, 1)
})

test('no name leads out of the root', () => {
  const files = new KernelFiles('/nowhere')
  for (const part of ['', '.', '..', 'a/b', '/etc', 'a\0b']) {
    assert.throws(() => files.file('class', part), { code: 'SRC_PATH' }, JSON.stringify(part))
  }
  assert.equal(files.file('class', '...', 'größe:0').path, '/nowhere/class/.../größe:0')
})

test('says what kind of failure the kernel answered', (t) => {
  const kinds: Readonly<Record<string, FailureKind>> = {
    ENOENT: 'missing',
    ENOTDIR: 'missing',
    ENODEV: 'missing',
    ENXIO: 'missing',
    EINVAL: 'unsupported',
    ENOTSUP: 'unsupported',
    EOPNOTSUPP: 'unsupported',
    EACCES: 'denied',
    EPERM: 'denied',
    EIO: 'failed',
    EMFILE: 'failed',
    ELOOP: 'failed',
  }
  for (const [code, kind] of Object.entries(kinds))
    assert.equal(failureKind(Object.assign(new Error(), { code })), kind)
  assert.equal(failureKind('EPERM'), 'failed')
  const { node, files } = filesOf(t)
  node.link('loop', `${node.root}/loop`)
  assert.equal(failureOf(files.file('loop')).kind, 'failed')
  assert.equal(failureOf(files.file('none')).kind, 'missing')
  fs.mkdirSync(`${node.root}/folder`)
  assert.equal(failureOf(files.file('folder')).kind, 'failed')
})

test('refusals of the running kernel: EINVAL keeps the descriptor, EACCES holds for root too', (t) => {
  const { node, files } = filesOf(t)
  node.link('speed', REFUSES)
  node.link('probe', DENIED)
  const speed = files.file('speed')
  for (let i = 0; i < 2; i++) assert.equal(failureOf(speed).kind, 'unsupported')
  assert.equal(files.openCount, 1)
  assert.match(failureOf(speed).error.message, /speed: EINVAL/)
  const denied = failureOf(files.file('probe'))
  assert.equal(denied.kind, 'denied')
  assert.match(denied.error.message, /EACCES.*probe/)
})

test('reads a long file of procfs whole, page by page', { skip: !fs.existsSync('/proc/kallsyms') }, (t) => {
  const files = new KernelFiles('/proc', { fileBytesLimit: 64 << 20 })
  t.after(() => files.close())
  const expected = fs.readFileSync('/proc/kallsyms', 'utf8')
  assert.ok(expected.length > 100_000)
  const file = files.file('kallsyms')
  for (let i = 0; i < 2; i++) assert.ok(fileText(file) === expected, 'the same as a plain read')
})

test('a file beyond the limit is a failed read, one at the limit is not', (t) => {
  const { node, files } = filesOf(t, { fileBytesLimit: 40_000 })
  node.write('big', 'x'.repeat(40_000))
  const file = files.file('big')
  assert.equal(fileText(file).length, 40_000)
  node.write('big', 'x'.repeat(40_001))
  const failure = failureOf(file)
  assert.equal(failure.kind, 'failed')
  assert.match(failure.error.message, /longer than 40000 bytes/)
  node.write('big', 'small')
  assert.equal(fileText(file), 'small')
})

test('of a file far beyond the limit no more is read than tells so', (t) => {
  const { node, files } = filesOf(t)
  node.makeHuge('huge', 100_000_000)
  const readBytes = () => Number(/rchar: (\d+)/.exec(fs.readFileSync('/proc/self/io', 'utf8'))?.[1])
  const before = readBytes()
  assert.equal(failureOf(files.file('huge')).kind, 'failed')
  assert.ok(readBytes() - before < 3 << 20, `${readBytes() - before} bytes read`)
})

test('a FIFO is a failed read at once, not a wait for its writer', (t) => {
  const { node, files } = filesOf(t)
  node.makeFifo('pipe')
  const file = files.file('pipe')
  assert.equal(failureOf(file).kind, 'failed')
  node.write('pipe', 'mended')
  assert.equal(fileText(file), 'mended')
})

test('a name that is not UTF-8 is given as its bytes', (t) => {
  const { node, files } = filesOf(t)
  const name = Buffer.from([0x61, 0xff, 0x62])
  fs.mkdirSync(Buffer.concat([Buffer.from(`${node.root}/`), name]))
  fs.writeFileSync(Buffer.concat([Buffer.from(`${node.root}/`), name, Buffer.from('/mtu')]), '1500\n')
  assert.equal(fileText(files.file(name, 'mtu')), '1500\n')
  assert.throws(() => files.file(Buffer.from('..')), { code: 'SRC_PATH' })
})

test('an empty file is empty text', (t) => {
  const { node, files } = filesOf(t)
  node.write('empty', '')
  const file = files.file('empty')
  for (let i = 0; i < 3; i++) assert.equal(fileText(file), '')
  assert.equal(files.openCount, 1)
})

test('where a process may have few descriptors, most of them are left to others', (t) => {
  const { node } = filesOf(t)
  for (let i = 0; i < 40; i++) node.write(`f${i}`, 'x')
  const script = `
    const { KernelFiles } = await import(${JSON.stringify(import.meta.resolve('./kernel-file.ts'))})
    const files = new KernelFiles(${JSON.stringify(node.root)}, { descriptorLimit: 4096 })
    for (let i = 0; i < 40; i++) files.file('f' + i).read()
    console.log(files.openCount)`
  const shell =
    'ulimit -n 64; exec "$0" --conditions=source --disable-warning=ExperimentalWarning --input-type=module -e "$1"'
  const { stdout, stderr } = spawnSync('sh', ['-c', shell, process.execPath, script], { encoding: 'utf8' })
  assert.equal(stdout.trim(), '8', stderr)
})

test('beyond the limit of descriptors files are read without keeping them', (t) => {
  const { node, files } = filesOf(t, { descriptorLimit: 2 })
  const all = ['a', 'b', 'c', 'd'].map((name) => {
    node.write(name, name)
    return files.file(name)
  })
  const before = fs.readdirSync('/proc/self/fd').length
  for (let i = 0; i < 2; i++) assert.deepEqual(all.map(fileText), ['a', 'b', 'c', 'd'])
  assert.equal(files.openCount, 2)
  assert.equal(fs.readdirSync('/proc/self/fd').length - before, 2)
  all[0]?.close()
  assert.equal(fileText(all[3] as KernelFile), 'd')
  assert.equal(files.openCount, 2, 'a place that is free is taken')
  files.close()
  files.close()
  assert.equal(fs.readdirSync('/proc/self/fd').length, before)
})

test('the bytes of one read are replaced by the next', (t) => {
  const { node, files } = filesOf(t)
  node.write('a', 'first')
  node.write('b', 'other')
  const kept = files.file('a').read() as Uint8Array
  files.file('b').read()
  assert.equal(Buffer.from(kept).toString(), 'other')
})

test('a link in place of a file is followed, or refused where files are asked for that are none', (t) => {
  const { node, files } = filesOf(t)
  node.write('elsewhere/mtu', '1500\n')
  node.link('mtu', `${node.root}/elsewhere/mtu`)
  node.link('class', `${node.root}/elsewhere`)
  assert.equal(fileText(files.file('mtu')), '1500\n')
  const strict = new KernelFiles(node.root, { links: 'refuse' })
  t.after(() => strict.close())
  assert.equal(failureOf(strict.file('mtu')).kind, 'failed')
  assert.equal(fileText(strict.file('class', 'mtu')), '1500\n', 'a folder may be a link')
})

test('lists the names in a folder, and where a link leads without following it', (t) => {
  const { node, files } = filesOf(t)
  node.write('ports/1/state', '4: ACTIVE\n')
  node.write('ports/2/state', '1: DOWN\n')
  node.link('device', '../../../0000:9a:00.0')
  assert.deepEqual(files.list('ports'), ['1', '2'])
  assert.equal(files.linkName('device'), '0000:9a:00.0')
  const missing = files.list('ports', '3')
  assert.ok(missing instanceof ReadFailure && missing.kind === 'missing' && missing.code === 'unsupported')
  assert.match(missing.error.message, /ports\/3/)
  const noLink = files.linkName('ports')
  assert.ok(noLink instanceof ReadFailure && noLink.kind === 'unsupported')
})

test('a file is opened anew as often as the options say', (t) => {
  const { node } = filesOf(t)
  node.write('mtu', '1500\n')
  const files = new KernelFiles(node.root, { readsPerOpen: 4 })
  t.after(() => files.close())
  const mtu = files.file('mtu')
  assert.equal(fileText(mtu), '1500\n')
  node.unlink('mtu')
  node.write('mtu', '9000\n')
  const texts = Array.from({ length: 4 }, () => fileText(mtu))
  assert.ok(texts.includes('9000\n'), 'within four reads')
})

test('that a file is not there is remembered until it would be opened anew, where that is asked for', (t) => {
  const { node } = filesOf(t)
  const files = new KernelFiles(node.root, { readsPerOpen: 4, remembersMissing: true })
  t.after(() => files.close())
  const irq = files.file('irq')
  const missing = failureOf(irq)
  assert.equal(missing.kind, 'missing')
  node.write('irq', '7\n')
  assert.equal(irq.read(), missing, 'the next read does not look')
  assert.equal(Buffer.from(irq.readAnew() as Uint8Array).toString(), '7\n', 'a look that is rare does')
  node.unlink('irq')
  const failures = Array.from({ length: 5 }, () => irq.read()).filter((read) => read instanceof ReadFailure)
  assert.ok(failures.length > 0, 'a file that leaves is missed')
  node.write('irq', '8\n')
  const texts = Array.from({ length: 4 }, () => irq.read()).filter((read) => !(read instanceof ReadFailure))
  assert.ok(texts.length > 0, 'and is found again within four reads')
})
