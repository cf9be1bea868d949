// `npm run image`: builds the container image. `--help` shows its options.

import { relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ARCHES, type Arch, OWN_ARCH } from './arch.ts'
import { buildImage, type LayerBytes } from './image.ts'

const HELP = `usage: npm run image [-- OPTIONS]

Builds the container image of Sonde as an OCI image layout, and FOLDER.tar for "podman load". Needs a Debian or Ubuntu
with apt-get, dpkg-deb and GNU tar, and the network; no root, no container runtime, no base image.

  --arch LIST    architectures, separated by commas: ${ARCHES.join(', ')}. Default: that of this machine
  --out FOLDER   folder of the layout, which is replaced. Default: dist/image
  --help         this text
`

const { values } = parseArgs({
  options: {
    arch: { type: 'string', default: OWN_ARCH },
    out: { type: 'string', default: 'dist/image' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  process.stdout.write(HELP)
  process.exit(0)
}
const arches = values.arch.split(',')
const unknown = arches.find((arch) => !(ARCHES as readonly string[]).includes(arch))
if (unknown !== undefined) {
  console.error(`image: --arch is ${values.arch}; ${unknown} is none of ${ARCHES.join(', ')}`)
  process.exit(2)
}
const out = resolve(values.out)
const started = performance.now()
const log = (line: string) => console.log(`${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${line}`)
const image = await buildImage({ arches: arches as Arch[], out, log })
for (const [arch, { node, rest }] of Object.entries(image.sizes))
  log(`${arch}: Node ${bytesText(node)}; everything else ${bytesText(rest)}`)
log(`${image.name} ${image.digest}`)
log(`in ${relative(process.cwd(), out)}; load it by: podman load -i ${relative(process.cwd(), out)}.tar`)

function bytesText({ plain, sent }: LayerBytes): string {
  return `${(plain / 1e6).toFixed(0)} MB, ${(sent / 1e6).toFixed(0)} MB compressed`
}
