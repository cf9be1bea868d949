// Runs the image in a container: by podman, or else by runc alone, or else by its own files without a container.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { programPath } from '../debian.ts'
import { readLayout, type StoredImage, unpackLayout } from './layout.ts'

const run = promisify(execFile)
/** Machines of tests may lack the right to raise limits, which podman otherwise does. */
const ULIMITS = ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024']

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
 * needs only namespaces: then the layers are unpacked here, and nothing is pulled. The last runs the files of the image
 * by its own loader and libraries as its user: that shows that the image is complete, and confines nothing.
 *
 * @param layout Folder of the image layout.
 * @param pull Name by which podman pulls the image, instead of reading the layout.
 */
export async function openRuntime(layout: string, pull: string): Promise<Runtime> {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-container-'))
  const refusals: string[] = []
  for (const open of [openPodman('overlay'), openPodman('vfs'), openRunc, openFiles]) {
    try {
      return { ...(await open(folder, layout, pull)), refusals }
    } catch (error) {
      refusals.push(String(error))
    }
  }
  rmSync(folder, { recursive: true, force: true })
  throw new Error(`no runtime starts the image:\n${refusals.join('\n')}`)
}

type Opened = Omit<Runtime, 'refusals'>

/** `overlay` shares the layers among containers, where the kernel lets it; `vfs` copies them for each. */
const openPodman = (driver: 'overlay' | 'vfs') => async (parent: string, _layout: string, image: string) => {
  const folder = join(parent, driver)
  const own = ['--root', join(folder, 'podman'), '--runroot', join(folder, 'podman-run'), '--storage-driver', driver]
  const words = [
    ...own,
    '--runtime',
    programPath('runc') ?? 'runc',
    '--cgroup-manager',
    'cgroupfs',
    '--events-backend',
    'none',
  ]
  await run('podman', [...words, 'pull', '--quiet', '--tls-verify=false', image])
  const command = (name: string, options: ContainerOptions) => [
    ...[...words, 'run', '--rm', '--name', name, '--network', 'host', ...ULIMITS],
    ...['--read-only', '--cap-drop', 'all', '--security-opt', 'no-new-privileges'],
    ...Object.entries(options.env ?? {}).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ...(options.mounts ?? []).flatMap(({ from, to, readOnly }) => [
      '--volume',
      `${from}:${to}${readOnly ? ':ro' : ''}`,
    ]),
    ...(options.memoryBytes === undefined ? [] : ['--memory', String(options.memoryBytes)]),
    ...(options.hostIpc ? ['--ipc', 'host'] : []),
    ...(options.entrypoint === undefined ? [] : ['--entrypoint', JSON.stringify(options.entrypoint)]),
    ...[options.image ?? image, ...(options.args ?? [])],
  ]
  await run('podman', command('probe', { args: ['--version'] }))
  const opened: Opened = {
    confinement: 'podman',
    start(options) {
      const name = `sonde-${randomUUID()}`
      return {
        child: spawn('podman', command(name, options), { stdio: ['ignore', 'pipe', 'pipe'] }),
        async pid() {
          const { stdout } = await run('podman', [...words, 'inspect', '--format', '{{.State.Pid}}', name])
          return Number(stdout)
        },
      }
    },
    async extend(folder) {
      const name = 'localhost/extended'
      const options = ['--isolation', 'chroot', '--build-arg', `SONDE=${image}`, '--tag', name]
      await run('podman', [...words, 'build', '--quiet', ...options, folder])
      return { image: name }
    },
    async close() {
      await run('podman', [...words, 'rm', '--all', '--force', '--time', '0']).catch(() => undefined)
      rmSync(parent, { recursive: true, force: true })
    },
  }
  return opened
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
    for (const { to } of options.mounts ?? []) mkdirSync(join(rootfs, to), { recursive: true })
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
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** What runc is told: as little as the image needs. */
function specOf(image: StoredImage, rootfs: string, options: ContainerOptions) {
  const { args = [], entrypoint = image.entrypoint, env = {}, mounts = [], memoryBytes, hostIpc } = options
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
      user: { uid: image.uid, gid: image.uid },
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
      resources: memoryBytes === undefined ? {} : { memory: { limit: memoryBytes } },
    },
  }
}

async function openFiles(folder: string, layout: string): Promise<Opened> {
  const image = readLayout(layout)
  const rootfs = join(folder, 'rootfs')
  await unpackLayout(image, rootfs)
  const loader = process.arch === 'arm64' ? 'ld-linux-aarch64.so.1' : 'ld-linux-x86-64.so.2'
  const libraries = join(rootfs, 'usr/lib', process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu')
  const node = [join(libraries, loader), '--library-path', libraries, join(rootfs, 'usr/bin/node')]
  return {
    confinement: 'files',
    start({ args = [], entrypoint, env = {}, mounts = [] }) {
      const place = (path: string) => {
        const mount = mounts.find(({ to }) => path === to || path.startsWith(`${to}/`))
        return mount === undefined ? path : mount.from + path.slice(mount.to.length)
      }
      const script = entrypoint?.[1] ?? join(rootfs, 'usr/bin/sonde')
      const words = [...node, place(script), ...(args.length > 0 || entrypoint ? args : image.cmd)]
      const own = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, place(value)]))
      const [program = '', ...rest] = words
      const user = process.getuid?.() === 0 ? { uid: image.uid, gid: image.uid } : {}
      const child = spawn(program, rest, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, ...own },
        ...user,
      })
      return { child, pid: async () => child.pid ?? 0 }
    },
    extend: mounted,
    async close() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Where no builder runs, the file is mounted where the Containerfile copies it to. */
async function mounted(folder: string): Promise<ContainerOptions> {
  const text = readFileSync(join(folder, 'Containerfile'), 'utf8')
  const [, file = '', to = ''] = /^COPY (\S+) (\S+)$/m.exec(text) ?? []
  const [, entrypoint = '[]'] = /^ENTRYPOINT (.+)$/m.exec(text) ?? []
  return { entrypoint: JSON.parse(entrypoint), mounts: [{ from: join(folder, file), to, readOnly: true }] }
}
