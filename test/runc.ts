import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const CGROUPS = '/sys/fs/cgroup'
/** A program that only waits, so that a container needs no files but it. */
const WAIT = 'int pause(void); int main(void) { pause(); return 0; }\n'

/** The host that tests end with. */
type Test = { after(end: () => void): void }

/** A container that runs under Debian's runc, with control groups of a path that a test chooses. */
export class RuncContainer {
  /** Id of the container, 64 hexadecimal digits. */
  readonly id: string
  /** Process in the container, as the host counts. */
  readonly pid: number
  /** Path of its control groups. */
  readonly cgroup: string

  private constructor(id: string, pid: number, cgroup: string) {
    this.id = id
    this.pid = pid
    this.cgroup = cgroup
  }

  /**
   * Starts a container, which ends with the test. Needs `runc` and `cc`.
   *
   * @param parent Path of the control groups above that of the container, such as `/kubepods/pod<uid>`.
   * @returns The container, or why runc refuses.
   */
  static start(test: Test, parent: string): RuncContainer | string {
    const id = `${randomUUID()}${randomUUID()}`.replaceAll('-', '')
    const bundle = mkdtempSync(join(tmpdir(), 'sonde-runc-'))
    const cgroup = `${parent}/${id}`
    test.after(() => {
      // Fails if the container never started.
      run('runc', ['delete', '--force', id])
      removeGroups(cgroup)
      rmSync(bundle, { recursive: true, force: true })
    })
    mkdirSync(join(bundle, 'rootfs'))
    writeFileSync(join(bundle, 'wait.c'), WAIT)
    execFileSync('cc', ['-static', '-Os', '-o', join(bundle, 'rootfs/wait'), join(bundle, 'wait.c')])
    execFileSync('runc', ['spec'], { cwd: bundle })
    const spec = JSON.parse(readFileSync(join(bundle, 'config.json'), 'utf8'))
    spec.process.terminal = false
    spec.process.args = ['/wait']
    spec.root.readonly = true
    spec.mounts = spec.mounts.filter(({ type }: { readonly type: string }) => type === 'proc')
    spec.linux.cgroupsPath = cgroup
    writeFileSync(join(bundle, 'config.json'), JSON.stringify(spec))
    const refused = run('runc', ['run', '--detach', '--bundle', bundle, '--pid-file', join(bundle, 'pid'), id])
    if (refused !== undefined) return refused
    return new RuncContainer(id, Number(readFileSync(join(bundle, 'pid'), 'utf8')), cgroup)
  }

  /** Moves its process into a control group that the container makes below its own. */
  forge(path: string): void {
    for (const root of hierarchies()) {
      const folder = join(root, this.cgroup, path)
      mkdirSync(folder, { recursive: true })
      // A new group of this controller has no processors and no memory before it is told.
      if (root.endsWith('/cpuset')) for (const file of ['cpuset.cpus', 'cpuset.mems']) copyDown(root, folder, file)
      writeFileSync(join(folder, 'cgroup.procs'), String(this.pid))
    }
  }
}

/** Hands a setting of control groups down from the root to a folder. */
function copyDown(root: string, folder: string, file: string): void {
  if (folder === root) return
  copyDown(root, dirname(folder), file)
  writeFileSync(join(folder, file), readFileSync(join(dirname(folder), file), 'utf8'))
}

/** Roots of the mounted hierarchies. */
function hierarchies(): string[] {
  const isGroup = (folder: string) => readdirSync(folder).includes('cgroup.procs')
  if (isGroup(CGROUPS)) return [CGROUPS]
  return readdirSync(CGROUPS)
    .map((name) => join(CGROUPS, name))
    .filter((folder) => statSync(folder).isDirectory() && isGroup(folder))
}

/** Removes the control groups of a path and the empty ones above it. */
function removeGroups(path: string): void {
  for (const root of hierarchies()) {
    try {
      const inside = readdirSync(join(root, path), { recursive: true, withFileTypes: true })
      const folders = inside.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
      for (const folder of [...folders.reverse(), join(root, path)]) rmdirSync(folder)
    } catch {
      // runc has removed it already.
    }
    try {
      for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) rmdirSync(join(root, folder))
    } catch {
      // Another container is still there.
    }
  }
}

/** Runs a program; gives its message if it fails. */
function run(program: string, args: readonly string[]): string | undefined {
  try {
    execFileSync(program, args, { stdio: ['ignore', 'ignore', 'ignore'], timeout: 60_000 })
    return undefined
  } catch (error) {
    return String(error)
  }
}
