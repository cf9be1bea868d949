import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type TestContext, test } from 'node:test'
import { needs } from '../debian.ts'
import { filesBelow, SONDE_READ, sondeRead, temporaryFolder, writePorts } from './sonde-read.ts'

const DAY = '2026-09-21'

async function folderOf(t: TestContext, count: number, ...sources: { id: string; tag?: string }[]): Promise<string> {
  const dir = temporaryFolder(t)
  await writePorts(dir, count, sources.length === 0 ? undefined : sources)
  return dir
}

function onlyFile(dir: string): string {
  const [file = '', ...others] = filesBelow(dir)
  assert.equal(others.length, 0)
  return file
}

/** Runs it where a person sits in front of a terminal of so many columns. */
function onTerminal(columns: number, ...args: string[]): string[] {
  const script = `
import fcntl, os, pty, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, int(sys.argv[1]), 0, 0))
try:
    while data := os.read(terminal, 65536):
        os.write(1, data)
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`
  const { status, stdout, stderr } = spawnSync('python3', ['-c', script, String(columns), ...SONDE_READ, ...args], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stdout + stderr)
  return stdout.split('\r\n').slice(0, -1)
}

test('prints a JSON object a line where the output is piped, with every digit of a u64', async (t) => {
  const dir = await folderOf(t, 2, { id: 'node/1', tag: 'a b' })
  const { code, stdout, stderr } = sondeRead(dir, '--type', 'port')
  assert.deepEqual([code, stderr], [0, ''])
  assert.deepEqual(stdout.split('\n'), [
    '{"type":"port","source":"node/1","tag":"a b","record":{"time":1790000000000000000,"device":"eth0","rx_bytes_total":18446744073709551615,"state":"a \\"b\\",c"}}',
    '{"type":"port","source":"node/1","tag":"a b","record":{"time":1790000001000000000,"device":"eth1","rx_bytes_total":18446744073709551614,"fill":0.125,"state":"a \\"b\\",c"}}',
    '',
  ])
  const quoted = sondeRead(dir, '--type', 'port', '--int64=string', '--limit', '1').stdout
  assert.equal(JSON.parse(quoted).record.rx_bytes_total, '18446744073709551615')
})

test('csv reads back as it was, in a reader that is not ours', needs('python3'), async (t) => {
  const dir = await folderOf(t, 3)
  const { code, stdout } = sondeRead(dir, '--format', 'csv', '--type', 'port')
  assert.equal(code, 0)
  const script = 'import csv, json, sys; print(json.dumps(list(csv.reader(sys.stdin))))'
  const rows = JSON.parse(spawnSync('python3', ['-c', script], { input: stdout, encoding: 'utf8' }).stdout)
  assert.deepEqual(rows, [
    ['source', 'tag', 'labels', 'time', 'device', 'rx_bytes_total', 'fill', 'state'],
    ['node1', '', '', '1790000000000000000', 'eth0', '18446744073709551615', '', 'a "b",c'],
    ['node1', '', '', '1790000001000000000', 'eth1', '18446744073709551614', '0.125', 'a "b",c'],
    ['node1', '', '', '1790000002000000000', 'eth0', '18446744073709551613', '', 'a "b",c'],
  ])
  const two = sondeRead(dir, '--format', 'csv')
  assert.equal(two.code, 1)
  assert.match(two.stderr, /port and step; choose with --type/)
})

test('a terminal gets a table no wider than itself, with times that people read', needs('python3'), async (t) => {
  const dir = await folderOf(t, 3)
  const lines = onTerminal(72, dir, '--type', 'port')
  assert.ok(
    lines.every((line) => line.length <= 80),
    lines.join('\n'),
  )
  assert.match(lines[0] ?? '', /^port, and no room for 1 field: state/)
  assert.match(lines[1] ?? '', /^source +time +device +rx_bytes_total +fill$/)
  assert.match(lines[2] ?? '', new RegExp(`^node1 +${DAY}T14:13:20Z +eth0 +18446744073709551615 +-$`))
  assert.ok(onTerminal(200, dir, '--type', 'port').some((line) => line.endsWith('a "b",c')))
})

test('chooses by source, tag, type, time and number', async (t) => {
  const dir = await folderOf(t, 100, { id: 'node1', tag: 'a' }, { id: 'node2', tag: 'b' }, { id: 'other' })
  const count = (...args: string[]) => {
    const { code, stdout, stderr } = sondeRead(dir, ...args)
    assert.equal(code, 0, stderr)
    return stdout.split('\n').length - 1
  }
  assert.equal(count(), 330)
  assert.equal(count('--source', 'node1'), 110)
  assert.equal(count('--source', 'node*', '--type', 'step'), 20)
  assert.equal(count('--source', 'node1', '--source', 'other'), 220)
  assert.equal(count('--tag', ''), 110)
  assert.equal(count('--label', 'worker=3'), 0)
  assert.equal(count('--tag', 'b', '--type', 'port'), 100)
  assert.equal(count('--start', `${DAY}T14:13:30Z`, '--end', `${DAY}T14:13:40Z`), 3 * 11)
  assert.equal(count('--start', `${DAY}T14:13:30.000000001Z`, '--end', `${DAY}T14:13:40Z`, '--type', 'port'), 3 * 9)
  assert.equal(count('--start', `${DAY}T16:13:30+02:00`, '--end', `${DAY}T14:13:40`), 3 * 11)
  assert.equal(count('--end', `${DAY}`), 0)
  assert.equal(count('--limit', '7'), 7)
  assert.equal(count('--limit', '0'), 0)
})

test('labels tell sources with the same name apart, in every format', async (t) => {
  const dir = temporaryFolder(t)
  const workers = ['3', '4'].map((worker) => ({ id: 'w', tag: 'w', labels: { worker, zone: 'a b' } }))
  await writePorts(dir, 2, [...workers, { id: 'plain' }])
  const lines = (...args: string[]) =>
    sondeRead(dir, '--type', 'port', ...args)
      .stdout.split('\n')
      .slice(0, -1)
  const starts = lines().map((line) => line.slice(0, line.indexOf(',"record"')))
  const startOf = (worker: string) =>
    `{"type":"port","source":"w","tag":"w","labels":{"worker":"${worker}","zone":"a b"}`
  for (const start of [startOf('3'), startOf('4'), '{"type":"port","source":"plain","tag":""'])
    assert.equal(starts.filter((each) => each === start).length, 2, start)
  assert.equal(lines('--label', 'worker=4').length, 2)
  assert.equal(lines('--label', 'worker=*').length, 4)
  assert.match(sondeRead(dir, '--label', 'worker=5').stderr, /--label worker=5 fits nothing .*worker=3, worker=4/)
  const csv = lines('--format', 'csv')
  assert.ok(csv.some((line) => line.startsWith('w,w,"{""worker"":""3"",""zone"":""a b""}",1790000000000000000,')))
  assert.ok(csv.some((line) => line.startsWith('plain,"",,1790000000000000000,')))
  const table = lines('--format', 'table')
  assert.ok(table.some((line) => /^w\/w +worker=3 zone=a b +2026-/.test(line)))
  assert.ok(table.some((line) => /^plain +2026-/.test(line)))
  const stats = lines('--stats').map((line) => JSON.parse(line))
  const counts = new Map(stats.map(({ labels, records }) => [labels.worker ?? 'none', records]))
  assert.deepEqual([counts.get('3'), counts.get('4'), counts.get('none'), stats.length], [2, 2, 2, 3])
  assert.ok(lines('--stats', '--format', 'table').some((line) => /^w +w +worker=4 zone=a b +2 /.test(line)))
})

test('a file is printed once, in however many ways it is named', async (t) => {
  const dir = await folderOf(t, 1)
  const { stdout } = sondeRead(dir, relative('.', dir), onlyFile(dir))
  assert.equal(stdout.split('\n').length - 1, 2)
})

test('a filter that fits nothing is named, with what there is instead, and that is no failure', async (t) => {
  const dir = await folderOf(t, 100, { id: 'node1', tag: 'a' }, { id: 'node2', tag: '' })
  writeFileSync(join(dir, 'a.fset'), '[port]\nnope\n')
  const { fset, there } = { fset: join(dir, 'a.fset'), there: `${DAY}T14:13:20Z to ${DAY}T14:14:59Z` }
  const notes = new Map([
    ['--type step,port', '--type step,port fits nothing; there is: port, step'],
    ['--stats --type nope', '--type nope fits nothing; there is: port, step'],
    ['--source x* --type nope', '--source x* fits nothing; there is: node1, node2'],
    ['--verify --source x', '--source x fits nothing; there is: node1, node2'],
    ['--tag b', '--tag b fits nothing; there is: "", a'],
    ['--source node1 --tag b', '--tag b fits nothing; there is: a'],
    [`--fset ${fset}`, '--fset and --cset let no field pass of the types that there are: port, step'],
    [`--type port --end ${DAY}`, `--end ${DAY}T00:00:00Z fits nothing; there are records from ${there}`],
    ['--start 1s --end 2s', `--start is not before --end; there are records from ${there}`],
    ['--limit 0', undefined],
    ['--type port --limit 1', undefined],
  ])
  for (const [options, note] of notes) {
    const { code, stderr } = sondeRead(dir, ...options.split(' '))
    assert.deepEqual([options, code, stderr], [options, 0, note === undefined ? '' : `sonde: ${note}\n`])
  }
})

test('field sets choose fields, with the time and the labels that they belong to', async (t) => {
  const dir = await folderOf(t, 1)
  writeFileSync(join(dir, 'a.fset'), '[po*]\n^fill$\nrx+total\n')
  writeFileSync(join(dir, 'a.cset'), 'port_rx\n')
  const fset = sondeRead(dir, '--fset', join(dir, 'a.fset')).stdout
  assert.deepEqual(Object.keys(JSON.parse(fset).record), ['time', 'device', 'rx_bytes_total'])
  const cset = sondeRead(dir, '--cset', join(dir, 'a.cset')).stdout
  assert.deepEqual(Object.keys(JSON.parse(cset).record), ['time', 'device', 'rx_bytes_total'])
  writeFileSync(join(dir, 'b.fset'), 'port\n')
  const wrong = sondeRead(dir, '--fset', join(dir, 'b.fset'))
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /b\.fset:1:1 is a token before any section/)
})

test('says what is there instead of printing it', async (t) => {
  const dir = await folderOf(t, 100, { id: 'node1', tag: 'a' }, { id: 'node2' })
  const rows = sondeRead(dir, '--stats')
    .stdout.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.equal(rows.length, 4)
  assert.deepEqual(rows[0], {
    source: 'node1',
    tag: 'a',
    records: 100,
    bytes: 4800,
    clock: 'wall',
    from: `${DAY}T14:13:20Z`,
    to: `${DAY}T14:14:59Z`,
    type: 'port',
  })
})

test('verifies whole files, cut ones and damaged ones, and each has its exit code', async (t) => {
  const dir = await folderOf(t, 4000)
  const file = onlyFile(dir)
  const bytes = readFileSync(file)
  const verify = (...args: string[]) => {
    const { code, stdout } = sondeRead(dir, '--verify', ...args)
    return { code, ...JSON.parse(stdout) }
  }
  const whole = verify('--strict')
  assert.deepEqual([whole.code, whole.state, whole.records, whole.bytes], [0, 'ended', 4400, bytes.length])
  writeFileSync(file, bytes.subarray(0, bytes.length - 100))
  const cut = verify()
  assert.deepEqual([cut.code, cut.state, cut.faults[0].code], [0, 'truncated', 'DTB_TRUNCATED'])
  assert.ok(cut.ignored_bytes > 0 && cut.records > 0)
  assert.equal(verify('--strict').code, 1)
  const flipped = Buffer.from(bytes)
  const middle = bytes.length >> 1
  flipped[middle] = (flipped[middle] ?? 0) ^ 16
  writeFileSync(file, flipped)
  const damaged = verify()
  assert.deepEqual([damaged.code, damaged.state], [1, 'damaged'])
  const salvaged = verify('--salvage')
  assert.equal(salvaged.code, 1)
  assert.ok(salvaged.records > damaged.records)
  writeFileSync(file, 'something else entirely')
  assert.deepEqual([verify().code, verify().faults[0].code], [1, 'DTB_FILE'])
})

test('reads up to damage and says what it ignores; behind it only where it is told to', async (t) => {
  const dir = await folderOf(t, 8000)
  const file = onlyFile(dir)
  const bytes = readFileSync(file)
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
  writeFileSync(file, bytes)
  const lines = (...args: string[]) => {
    const { code, stdout, stderr } = sondeRead(dir, ...args)
    return { code, count: stdout.split('\n').length - 1, stderr }
  }
  const stopped = lines()
  assert.equal(stopped.code, 1)
  assert.match(stopped.stderr, /\.bin: at \d+: the .* is damaged: .*; \d+ bytes are ignored\n$/)
  assert.equal(lines('--strict').code, 1)
  const salvaged = lines('--salvage')
  assert.equal(salvaged.code, 1)
  assert.ok(salvaged.count > stopped.count && salvaged.count < 8800, `${salvaged.count}`)
  assert.match(salvaged.stderr, /bytes are ignored/)
  writeFileSync(file, bytes.subarray(0, 4000))
  assert.deepEqual([lines().code, lines('--strict').code], [0, 1])
})

test('of blocks that no filter lets pass the header is checked, and the payload by --verify alone', async (t) => {
  const dir = await folderOf(t, 8000)
  const file = onlyFile(dir)
  const bytes = readFileSync(file)
  const flip = (at: number) => writeFileSync(file, bytes.with(at, (bytes[at] ?? 0) ^ 1))
  const payload = bytes.length >> 1
  flip(payload)
  assert.equal(sondeRead(dir, '--type', 'port').code, 1)
  const skipped = sondeRead(dir, '--type', 'step')
  assert.deepEqual([skipped.code, skipped.stderr, skipped.stdout.split('\n').length - 1], [0, '', 800])
  assert.equal(sondeRead(dir, '--verify').code, 1)
  flip(bytes.lastIndexOf('DTBK', payload) + 8)
  const { code, stderr } = sondeRead(dir, '--type', 'step')
  assert.equal(code, 1)
  assert.match(stderr, /: the header of the block is damaged: .*; \d+ bytes are ignored\n$/)
})

test('a file whose first block is damaged is read with the types of its sidecar, beside it or in a folder that is named', async (t) => {
  const dir = await folderOf(t, 100)
  const expected = sondeRead(dir).stdout
  const file = onlyFile(dir)
  const bytes = readFileSync(file)
  // Within the first block: in its header, or in its payload.
  for (const at of [64 + 8, 64 + 64 + 5]) {
    const damaged = Buffer.from(bytes)
    damaged[at] = (damaged[at] ?? 0) ^ 1
    writeFileSync(file, damaged)
    assert.equal(sondeRead(dir).stdout, '')
    assert.equal(sondeRead(dir, '--salvage').stdout, expected)
  }
  const elsewhere = join(temporaryFolder(t), 'types')
  cpSync(join(dir, 'schema'), elsewhere, { recursive: true })
  rmSync(join(dir, 'schema'), { recursive: true })
  const without = sondeRead(dir, '--salvage')
  assert.match(without.stderr, /at 64: the types are lost: schema_[0-9a-f]{32}\.json is not in .*--schema-dir/)
  assert.equal(sondeRead(dir, '--salvage', '--schema-dir', elsewhere).stdout, expected)
  const [sidecar = ''] = readdirSync(elsewhere)
  writeFileSync(join(elsewhere, sidecar), '{"types":[]}')
  assert.match(sondeRead(dir, '--salvage', '--schema-dir', elsewhere).stderr, /has not the types of the schema/)
})

test('what is not there, or is no file of records, is told in a line and is exit code 1; the others are read', async (t) => {
  const dir = await folderOf(t, 1)
  const other = join(dir, 'notes.txt')
  writeFileSync(other, 'notes')
  assert.match(sondeRead(join(dir, 'nothing')).stderr, /^sonde: .*nothing cannot be read: no such file or directory\n$/)
  assert.equal(sondeRead(join(dir, 'nothing')).code, 1)
  const both = sondeRead(other, onlyFile(dir))
  assert.equal(both.code, 1)
  assert.equal(both.stdout.split('\n').length - 1, 2)
  assert.match(both.stderr, /notes\.txt: at 0: this is no DTB file/)
  for (const task of ['--stats', '--verify']) {
    const others = sondeRead(join(dir, 'nothing'), onlyFile(dir), task)
    assert.deepEqual([others.code, others.stdout !== ''], [1, true], task)
    assert.match(others.stderr, /^sonde: .*nothing cannot be read: no such file or directory\n$/)
  }
  const empty = sondeRead(temporaryFolder(t))
  assert.deepEqual([empty.code, empty.stdout], [1, ''])
})

test('a name that a terminal would obey is shown as text', async (t) => {
  const path = join(temporaryFolder(t), 'a\x1b[2J\x1b]0;b\x07.bin')
  writeFileSync(path, 'no file of records')
  const { stderr, code } = sondeRead(path)
  assert.equal(code, 1)
  assert.match(stderr, /a\\u001b\[2J\\u001b\]0;b\\u0007\.bin: at 0: this is no DTB file/)
  assert.ok(!stderr.includes('\x1b'))
})

test('options that are wrong are usage errors', async (t) => {
  const dir = temporaryFolder(t)
  for (const args of [
    ['--format', 'xml'],
    ['--limit', '-1'],
    ['--start', 'yesterday'],
    ['--int64', 'hex'],
    ['--fset', join(dir, 'nothing')],
    ['--verify', '--limit', '1'],
    ['--verify', '--follow'],
    ['--schema-dir', dir],
    ['--unknown'],
  ]) {
    const { code, stderr } = sondeRead(dir, ...args)
    assert.equal(code, 2, args.join(' '))
    // A second line names the help, which lists what is allowed.
    assert.match(stderr, /^sonde: [^\n]+\n(sonde: to see what is allowed: .*read --help\n)?$/)
  }
  assert.equal(sondeRead().code, 2)
})

test('help fits a screen', () => {
  const lines = sondeRead('--help').stdout.trimEnd().split('\n')
  assert.ok(lines.length <= 24 && lines.every((line) => line.length < 80))
})

test('who reads the output may leave early', async (t) => {
  const dir = await folderOf(t, 20_000)
  const command = `${SONDE_READ.map((word) => `'${word}'`).join(' ')} '${dir}' | head -n 1; exit "\${PIPESTATUS[0]}"`
  const { status, stdout, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8' })
  assert.deepEqual([status, stdout.split('\n').length, stderr], [0, 2, ''])
})

test('a disk without room for the output is an error', { skip: process.platform !== 'linux' }, async (t) => {
  const dir = await folderOf(t, 2000)
  const command = `${SONDE_READ.map((word) => `'${word}'`).join(' ')} '${dir}' > /dev/full`
  const { status, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8' })
  assert.equal(status, 1)
  assert.match(stderr, /^sonde: .*ENOSPC/)
})

/** Runs it with a terminal for standard error alone, until it said something there or ended. */
function firstOnStderr(...args: string[]): string {
  const script = `
import os, pty, signal, sys
pid, terminal = pty.fork()
if pid == 0:
    os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
    os.execvp(sys.argv[1], sys.argv[1:])
try:
    os.write(1, os.read(terminal, 65536))
except OSError:
    pass
os.kill(pid, signal.SIGKILL)`
  return spawnSync('python3', ['-c', script, ...SONDE_READ, ...args], { encoding: 'utf8' }).stdout
}

test(
  'a file of 256 MB takes no more memory than a small one, and somebody who waits sees how far it is',
  needs('python3'),
  async (t) => {
    const dir = temporaryFolder(t)
    await writePorts(dir, 30_000, undefined, { maxBytes: 64 << 20 })
    const file = onlyFile(dir)
    const { bytes, blocks } = { bytes: readFileSync(file), blocks: 64 }
    const big = join(dir, 'big.bin')
    // Everything but the end, then its largest blocks again and again.
    const from = bytes.indexOf('DTBK', 200_000)
    const to = bytes.lastIndexOf('DTBK')
    writeFileSync(big, bytes.subarray(0, to))
    const stretch = Buffer.concat(
      Array.from({ length: Math.ceil((256 << 20) / blocks / (to - from)) }, () => bytes.subarray(from, to)),
    )
    for (let i = 0; i < blocks; i++) appendFileSync(big, stretch)
    const script = `
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)`
    const peakMb = (...args: string[]) => {
      const run = spawnSync('python3', ['-c', script, ...SONDE_READ, ...args], { encoding: 'utf8' })
      const [code, mb] = run.stdout.trim().split(' ').map(Number)
      assert.equal(code, 0, run.stderr)
      return mb ?? Number.NaN
    }
    const small = peakMb(file, '--verify')
    const large = peakMb(big, '--verify')
    assert.ok(large < small + 64, `${large} MB, and ${small} MB for a small file`)
    assert.match(firstOnStderr(big), /^\r\S+\d+ % · \d+ of \d{3} MB · [\d,]+ records, [\d,]+ a second$/)
  },
)
