// Runs the image in a container: by podman, or else by runc alone, or else by its own files without a container.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { SMALL_FLAGS } from '../../packages/cli/src/restart-small.ts'
import { programPath } from '../debian.ts'
import { until } from '../sonde-process.ts'
import { readLayout, type StoredImage, unpackLayout } from './layout.ts'

const run = promisify(execFile)
/** Machines of tests may lack the right to raise limits, which podman otherwise does. */
const ULIMITS = ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024']

const CLEAN_LIMIT_MS = 60_000
const PERIOD_US = 100_000

/** A folder or file of this machine in a container. */
export interface Mount {
  readonly from: string
  readonly to: string
  readonly readOnly?: boolean
}

/** How a container differs from what its image says. It always has the network of this machine. */
export interface ContainerOptions {
  /** Arguments after the entry point. */
  readonly args?: readonly string[]
  /** Replaces the entry point of the image. */
  readonly entrypoint?: readonly string[]
  /** Replaces the image; podman alone has others. */
  readonly image?: string
  readonly env?: Readonly<Record<string, string>>
  readonly mounts?: readonly Mount[]
  readonly memoryBytes?: number
  /** Cores, in parts of one. */
  readonly cores?: number
  /** Runs it as root, still without rights: it reads what belongs to root, and nothing else. */
  readonly asRoot?: boolean
  /** Whether it has the shared memory of this machine, as `hostIPC: true` in a pod. */
  readonly hostIpc?: boolean
}

/** What a runtime keeps back: more than the image asks for is a fault that tests look for. */
export type Confinement = 'podman' | 'runc' | 'files'

/** Runs containers of one image. */
export interface Runtime {
  readonly confinement: Confinement
  /** Why better ones were not taken. */
  readonly refusals: readonly string[]
  /** Starts a container in the foreground, without rights and with a root that nobody writes to. */
  start(options: ContainerOptions): Started
  /** The image with a file more, and another entry point. */
  extend(containerfile: string): Promise<ContainerOptions>
  close(): Promise<void>
}

/** A container that runs, or has ended. */
export interface Started {
  /** Ends with the exit code of the container; hands signals on. */
  readonly child: ChildProcess
  /** Its first process, as this machine counts. */
  pid(): Promise<number>
}

/**
 * Takes the best runtime that starts the image here. podman needs root and rights that a test machine may lack. runc
 * needs only namespaces: then the layers are unpacked here, and nothing is pulled. The last runs the program of the
 * image with its libraries as its user: that shows that the image is complete, and confines nothing.
 *
 * @param layout Folder of the image layout.
 * @param pull Name of the image in a registry, from which podman pulls it. Default: podman loads the layout.
 */
export async function openRuntime(layout: string, pull = layout): Promise<Runtime> {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-container-'))
  const refusals: string[] = []
  for (const open of [openPodman('overlay'), openPodman('vfs'), openRunc, openFiles]) {
    try {
      const opened = await open(folder, layout, pull)
      const close = async () => {
        await opened.close()
        rmSync(folder, { recursive: true, force: true })
      }
      return { ...opened, close, refusals }
    } catch (error) {
      refusals.push(String(error))
    }
  }
  rmSync(folder, { recursive: true, force: true })
  throw new Error(`no runtime starts the image:\n${refusals.join('\n')}`)
}

type Opened = Omit<Runtime, 'refusals'>

/** `overlay` shares the layers among containers, where the kernel lets it; `vfs` copies them for each. */
const openPodman = (driver: 'overlay' | 'vfs') => async (parent: string, _layout: string, name: string) => {
  const folder = join(parent, driver)
  const podman = new Podman(folder, driver)
  try {
    const image = await podman.load(name)
    await podman.run(...podmanArgs('probe', image, { args: ['--version'] }))
    return podmanRuntime(podman, image)
  } catch (error) {
    await podman.close()
    throw error
  }
}

/** podman with images and containers in a folder of its own. */
class Podman {
  readonly #folder: string
  readonly #driver: string

  constructor(folder: string, driver: string) {
    this.#folder = folder
    this.#driver = driver
  }

  /** Starts it in its folder, where it leaves a file if memory is at an end. */
  spawn(args: readonly string[]): ChildProcess {
    return spawn('podman', this.#command(args), { cwd: this.#folder, stdio: ['ignore', 'pipe', 'pipe'] })
  }

  #command(args: readonly string[]): string[] {
    return [
      ...['--root', join(this.#folder, 'images'), '--runroot', join(this.#folder, 'run')],
      ...['--storage-driver', this.#driver, '--runtime', programPath('runc') ?? 'runc'],
      ...['--cgroup-manager', 'cgroupfs', '--events-backend', 'none', ...args],
    ]
  }

  async run(...args: readonly string[]): Promise<string> {
    return (await run('podman', this.#command(args))).stdout
  }

  /** Gets an image of a registry, or of the folder of a layout. Resolves with its id. */
  async load(name: string): Promise<string> {
    if (!name.startsWith('/')) return (await this.run('pull', '--quiet', '--tls-verify=false', name)).trim()
    const said = await this.run('load', '--quiet', '--input', `${name}.tar`)
    return said.trim().split(' ').at(-1) ?? ''
  }

  async close(): Promise<void> {
    await this.run('rm', '--all', '--force', '--time', '0').catch(() => undefined)
    // podman cleans up behind a container that ended, and mounts its storage while it does.
    await until('the storage of podman to be free', CLEAN_LIMIT_MS, async () => {
      await run('umount', [join(this.#folder, 'images', this.#driver)]).catch(() => undefined)
      return removeIfFree(this.#folder)
    })
  }
}

function podmanRuntime(podman: Podman, image: string): Opened {
  return {
    confinement: 'podman',
    start(options) {
      const name = `sonde-${randomUUID()}`
      return {
        child: podman.spawn(podmanArgs(name, image, options)),
        pid: async () => Number(await podman.run('inspect', '--format', '{{.State.Pid}}', name)),
      }
    },
    async extend(folder) {
      const options = ['--isolation', 'chroot', '--build-arg', `SONDE=${image}`]
      return { image: (await podman.run('build', '--quiet', ...options, folder)).trim() }
    },
    close: () => podman.close(),
  }
}

function podmanArgs(name: string, image: string, options: ContainerOptions): string[] {
  const { args = [], entrypoint, env = {}, mounts = [], memoryBytes, cores, asRoot, hostIpc } = options
  return [
    ...['run', '--rm', '--name', name, '--network', 'host', ...ULIMITS],
    ...['--read-only', '--cap-drop', 'all', '--security-opt', 'no-new-privileges'],
    ...Object.entries(env).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ...mounts.flatMap(({ from, to, readOnly }) => ['--volume', `${from}:${to}${readOnly ? ':ro' : ''}`]),
    ...(memoryBytes === undefined ? [] : ['--memory', String(memoryBytes)]),
    ...(cores === undefined ? [] : ['--cpus', String(cores)]),
    ...(asRoot ? ['--user', '0:0'] : []),
    ...(hostIpc ? ['--ipc', 'host'] : []),
    ...(entrypoint === undefined ? [] : ['--entrypoint', JSON.stringify(entrypoint)]),
    ...[options.image ?? image, ...args],
  ]
}

async function openRunc(folder: string, layout: string): Promise<Opened> {
  const image = readLayout(layout)
  const rootfs = join(folder, 'rootfs')
  await unpackLayout(image, rootfs)
  const ids: string[] = []
  const prepare = (options: ContainerOptions): [string, string] => {
    const id = `sonde-${randomUUID()}`
    const bundle = join(folder, id)
    mkdirSync(bundle)
    writeFileSync(join(bundle, 'config.json'), JSON.stringify(specOf(image, rootfs, options)))
    ids.push(id)
    return [bundle, id]
  }
  const [bundle, id] = prepare({ args: ['--version'] })
  await run('runc', ['run', '--bundle', bundle, id])
  return {
    confinement: 'runc',
    start(options) {
      const [bundle, id] = prepare(options)
      return {
        child: spawn('runc', ['run', '--bundle', bundle, id], { stdio: ['ignore', 'pipe', 'pipe'] }),
        pid: async () => JSON.parse((await run('runc', ['state', id])).stdout).pid,
      }
    },
    extend: mounted,
    async close() {
      for (const id of ids) await run('runc', ['delete', '--force', id]).catch(() => undefined)
    },
  }
}

function removeIfFree(folder: string): true | undefined {
  try {
    rmSync(folder, { recursive: true, force: true })
    return true
  } catch {
    return undefined
  }
}

/** What runc is told: as little as the image needs. */
function specOf(image: StoredImage, rootfs: string, options: ContainerOptions) {
  const {
    args = [],
    entrypoint = image.entrypoint,
    env = {},
    mounts = [],
    memoryBytes,
    cores,
    asRoot,
    hostIpc,
  } = options
  const tmpfs = (destination: string) => ({ destination, type: 'tmpfs', source: 'tmpfs', options: ['mode=1777'] })
  const bind = (source: string, destination: string, ...more: string[]) => ({
    ...{ destination, source, type: 'bind', options: ['rbind', ...more] },
  })
  return {
    ociVersion: '1.0.2',
    root: { path: rootfs, readonly: true },
    process: {
      ...{ args: [...entrypoint, ...(args.length > 0 ? args : image.cmd)], cwd: '/' },
      env: [...image.env, ...Object.entries(env).map(([key, value]) => `${key}=${value}`)],
      user: asRoot ? { uid: 0, gid: 0 } : { uid: image.uid, gid: image.uid },
      capabilities: { bounding: [], effective: [], permitted: [] },
      noNewPrivileges: true,
    },
    mounts: [
      ...[
        { destination: '/proc', type: 'proc', source: 'proc' },
        tmpfs('/dev'),
        tmpfs('/tmp'),
        tmpfs('/var/lib/sonde'),
      ],
      bind('/sys', '/sys', 'ro'),
      hostIpc ? bind('/dev/shm', '/dev/shm') : tmpfs('/dev/shm'),
      ...mounts.map(({ from, to, readOnly }) => bind(from, to, readOnly ? 'ro' : 'rw')),
    ],
    linux: {
      namespaces: ['pid', 'mount', 'uts', ...(hostIpc ? [] : ['ipc'])].map((type) => ({ type })),
      resources: {
        ...(memoryBytes === undefined ? {} : { memory: { limit: memoryBytes } }),
        ...(cores === undefined ? {} : { cpu: { period: PERIOD_US, quota: Math.round(cores * PERIOD_US) } }),
      },
    },
  }
}

async function openFiles(folder: string, layout: string): Promise<Opened> {
  const image = readLayout(layout)
  const rootfs = join(folder, 'rootfs')
  await unpackLayout(image, rootfs)
  // Its user reads them.
  chmodSync(folder, 0o755)
  const libraries = join(rootfs, 'usr/lib', process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu')
  return {
    confinement: 'files',
    start({ args = [], entrypoint, env = {}, mounts = [], asRoot }) {
      const place = (path: string) => {
        const mount = mounts.find(({ to }) => path === to || path.startsWith(`${to}/`))
        return mount === undefined ? path : mount.from + path.slice(mount.to.length)
      }
      const script = place(entrypoint?.[1] ?? join(rootfs, 'usr/bin/sonde'))
      const words = [...SMALL_FLAGS, script, ...(args.length > 0 || entrypoint ? args : image.cmd)]
      const own = Object.entries(env).map(([key, value]) => [key, place(value)])
      // The folders of the image that a test replaces.
      own.push(['XDG_RUNTIME_DIR', dirname(place('/run/sonde'))], ['XDG_STATE_HOME', dirname(place('/var/lib/sonde'))])
      const child = spawn(join(rootfs, 'usr/bin/node'), words, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { LD_LIBRARY_PATH: libraries, ...Object.fromEntries(own) },
        ...(process.getuid?.() === 0 && !asRoot ? { uid: image.uid, gid: image.uid } : {}),
      })
      return { child, pid: async () => child.pid ?? 0 }
    },
    extend: async (source) => {
      // Node finds the SDK of the image from a file beside its packages.
      const file = join(rootfs, 'collector.ts')
      copyFileSync(join(source, 'collector.ts'), file)
      return { entrypoint: ['node', file] }
    },
    close: async () => undefined,
  }
}

/** Where no builder runs, the file is mounted where the Containerfile copies it to. */
async function mounted(folder: string): Promise<ContainerOptions> {
  const text = readFileSync(join(folder, 'Containerfile'), 'utf8')
  const [, file = '', to = ''] = /^COPY (\S+) (\S+)$/m.exec(text) ?? []
  const [, entrypoint = '[]'] = /^ENTRYPOINT (.+)$/m.exec(text) ?? []
  return { entrypoint: JSON.parse(entrypoint), mounts: [{ from: join(folder, file), to, readOnly: true }] }
}
