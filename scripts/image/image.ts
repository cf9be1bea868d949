// Assembles the container image from parts of npm and Debian, without a base image.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { commit } from '../manifest.ts'
import { root } from '../setup.mjs'
import { type Arch, USER_ID } from './arch.ts'
import { checkArch } from './elf.ts'
import { type Layer, type LayerFiles, Layout } from './layout.ts'
import { stageLibraries } from './libraries.ts'
import { stageNode, stagePackages } from './packages.ts'
import { spdxDocument } from './sbom.ts'

/** What to build, and where. */
export interface ImageOptions {
  readonly arches: readonly Arch[]
  /** Folder of the layout; what it has is replaced. Beside it, `FOLDER.tar` is the layout in an archive. */
  readonly out: string
  readonly log: (line: string) => void
}

/** The built image. */
export interface Image {
  /** Name and tag. */
  readonly name: string
  /** Hash of the index of all architectures. */
  readonly digest: string
  readonly sizes: Readonly<Partial<Record<Arch, ImageSizes>>>
}

/** Bytes of the layers. */
export interface ImageSizes {
  /** The layer with the Node binary. */
  readonly node: LayerBytes
  /** The other layers. */
  readonly rest: LayerBytes
}

/** How long a layer is unpacked, and as it is sent. */
export interface LayerBytes {
  readonly plain: number
  readonly sent: number
}

const ORDINARY = 'u=rwX,go=rX'
/** Folders on which a runtime mounts. */
const MOUNTED = ['dev', 'proc', 'sys', 'etc/sonde']
const SBOM = 'usr/share/sonde/sbom.spdx.json'
const FILES = {
  'etc/passwd': `root:x:0:0:root:/:/sbin/nologin\nsonde:x:${USER_ID}:${USER_ID}:Sonde:/var/lib/sonde:/sbin/nologin\n`,
  'etc/group': `root:x:0:\nsonde:x:${USER_ID}:\n`,
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
}
const ENVIRONMENT = [
  'PATH=/usr/bin',
  'XDG_STATE_HOME=/var/lib',
  'XDG_RUNTIME_DIR=/run',
  // Metrics and health for everybody; page and API stay on the loopback of the container.
  'PROMETHEUS_PORT=9394',
  // Roots of TLS in a file that a mount may replace, beside those of Node.
  'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt',
  'NODE_USE_SYSTEM_CA=1',
  // The runtime of NVIDIA mounts the management library and no devices of CUDA.
  'NVIDIA_VISIBLE_DEVICES=all',
  'NVIDIA_DRIVER_CAPABILITIES=utility',
]

/** Builds the image. Two builds of one commit with the same packages of Debian have one digest. */
export async function buildImage({ arches, out, log }: ImageOptions): Promise<Image> {
  const { version, description, license } = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8'))
  const created = createdAt()
  const revision = commit()
  const labels = {
    'org.opencontainers.image.title': 'sonde',
    'org.opencontainers.image.description': description,
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.licenses': license,
    'org.opencontainers.image.created': created,
    ...(revision === '' ? {} : { 'org.opencontainers.image.revision': revision }),
  }
  const layout = new Layout(out, join(root, '.cache/image/layers'))
  const images: Partial<Record<Arch, ReturnType<Layout['addImage']>>> = {}
  const sizes: Partial<Record<Arch, ImageSizes>> = {}
  for (const arch of arches) {
    const described = { name: 'sonde', version, arch, created }
    const { libraries, node, packages } = await addLayers(layout, arch, described, log)
    images[arch] = layout.addImage(arch, configOf(created, labels), [libraries, node, packages], labels)
    sizes[arch] = { node: bytesOf(node), rest: bytesOf(libraries, packages) }
  }
  const name = `sonde:${version}`
  const digest = layout.close(images, name, labels)
  layout.archive(`${out}.tar`)
  return { name, digest, sizes }
}

async function addLayers(
  layout: Layout,
  arch: Arch,
  described: Parameters<typeof spdxDocument>[0],
  log: ImageOptions['log'],
) {
  const cache = join(root, '.cache/image', arch)
  mkdirSync(cache, { recursive: true })
  const stage = mkdtempSync(join(cache, 'stage-'))
  try {
    const folder = (name: string) => join(stage, name)
    for (const path of MOUNTED) mkdirSync(join(folder('libraries'), path), { recursive: true })
    for (const path of ['var/lib/sonde', 'run/sonde', 'tmp'])
      mkdirSync(join(folder('state'), path), { recursive: true })
    for (const [path, text] of Object.entries(FILES)) writeFileSync(join(folder('libraries'), path), text)
    log(`${arch}: libraries from Debian`)
    const debs = stageLibraries(arch, cache, folder('libraries'))
    const libraries = layout.addLayer([
      whole(folder('libraries')),
      { folder: folder('state'), paths: ['var/lib/sonde'], owner: USER_ID, mode: '0700' },
      { folder: folder('state'), paths: ['run/sonde'], owner: USER_ID, mode: '1770' },
      { folder: folder('state'), paths: ['tmp'], owner: 0, mode: '1777' },
    ])
    log(`${arch}: Node from npm`)
    const node = stageNode(arch, cache, folder('node'))
    const nodeLayer = layout.addLayer([whole(folder('node'))])
    log(`${arch}: the command, its page and the SDK`)
    const own = await stagePackages(arch, cache, folder('packages'))
    const binaries = ['libraries', 'node', 'packages'].map((name) => checkArch(folder(name), arch))
    log(`${arch}: ${binaries.reduce((sum, count) => sum + count)} binaries, all of this architecture`)
    const sbom = join(folder('packages'), SBOM)
    mkdirSync(dirname(sbom), { recursive: true })
    writeFileSync(sbom, `${JSON.stringify(spdxDocument(described, [...node, ...own, ...debs]), undefined, 2)}\n`)
    return { libraries, node: nodeLayer, packages: layout.addLayer([whole(folder('packages'))]) } as const
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

function whole(folder: string): LayerFiles {
  return { folder, paths: readdirSync(folder).sort(), owner: 0, mode: ORDINARY }
}

function configOf(created: string, labels: Readonly<Record<string, string>>) {
  return {
    created,
    // An entry for each layer: builders refuse to extend an image without.
    history: ['libraries of Debian', 'Node', 'packages of Sonde'].map((comment) => ({ created, comment })),
    config: {
      User: `${USER_ID}:${USER_ID}`,
      ExposedPorts: { '9394/tcp': {} },
      Env: ENVIRONMENT,
      Entrypoint: ['/usr/bin/sonde'],
      Cmd: ['agent'],
      Volumes: { '/var/lib/sonde': {} },
      WorkingDir: '/var/lib/sonde',
      StopSignal: 'SIGTERM',
      Labels: labels,
    },
  }
}

/** The time of the commit, or `SOURCE_DATE_EPOCH`, by which reproducible builds agree on a time. */
function createdAt(): string {
  const time = spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }).stdout?.trim() || '0'
  return new Date(Number(process.env.SOURCE_DATE_EPOCH ?? time) * 1000).toISOString().replace('.000', '')
}

function bytesOf(...layers: readonly Layer[]): LayerBytes {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  return { plain: sum(layers.map(({ plainBytes }) => plainBytes)), sent: sum(layers.map(({ size }) => size)) }
}
