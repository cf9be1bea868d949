/** An architecture of the image, in the words of OCI and Debian. */
export type Arch = 'amd64' | 'arm64'

/** Architectures of the image. */
export const ARCHES = ['amd64', 'arm64'] as const

/** How npm calls each of them. */
export const NPM_CPU: Readonly<Record<Arch, string>> = { amd64: 'x64', arm64: 'arm64' }

/** The architecture of this machine. */
export const OWN_ARCH: Arch = process.arch === 'arm64' ? 'arm64' : 'amd64'

/** The user of the image, which owns its state. */
export const USER_ID = 65_532
