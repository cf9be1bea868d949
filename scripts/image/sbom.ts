/** A package in the image. */
export interface Part {
  readonly kind: 'npm' | 'deb'
  readonly name: string
  readonly version: string
  /** Expression of SPDX. */
  readonly license?: string
  /** Of the archive from which it came. */
  readonly checksum?: { readonly algorithm: 'SHA256' | 'SHA512'; readonly value: string }
}

/** What the list of parts describes. */
export interface Described {
  readonly name: string
  readonly version: string
  readonly arch: string
  /** When it was made: of the commit, so that two builds are equal. */
  readonly created: string
}

const UNKNOWN = 'NOASSERTION'

/** Lists the parts of an image as a document of SPDX 2.3. */
export function spdxDocument({ name, version, arch, created }: Described, parts: readonly Part[]) {
  const title = `${name}-${version}-${arch}`
  const packages = parts.map((part, index) => ({
    SPDXID: `SPDXRef-${index + 1}`,
    name: part.name,
    versionInfo: part.version,
    downloadLocation: UNKNOWN,
    filesAnalyzed: false,
    licenseConcluded: UNKNOWN,
    licenseDeclared: part.license ?? UNKNOWN,
    copyrightText: UNKNOWN,
    externalRefs: [
      { referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: packageUrl(part, arch) },
    ],
    ...(part.checksum === undefined
      ? {}
      : { checksums: [{ algorithm: part.checksum.algorithm, checksumValue: part.checksum.value }] }),
  }))
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: title,
    documentNamespace: `https://spdx.org/spdxdocs/${title}-${created}`,
    creationInfo: { created, creators: ['Tool: npm run image'] },
    packages,
    relationships: packages.map(({ SPDXID }) => ({
      spdxElementId: 'SPDXRef-DOCUMENT',
      relationshipType: 'DESCRIBES',
      relatedSpdxElement: SPDXID,
    })),
  }
}

function packageUrl({ kind, name, version }: Part, arch: string): string {
  const part = (text: string) => encodeURIComponent(text)
  if (kind === 'deb') return `pkg:deb/debian/${part(name)}@${part(version)}?arch=${arch}`
  return `pkg:npm/${name.split('/').map(part).join('/')}@${part(version)}`
}
