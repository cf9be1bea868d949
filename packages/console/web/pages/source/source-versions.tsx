import type { SourceVersion } from '@sonde/sdk/api'

/** Versions of what a source is read by. */
export function SourceVersions({ versions }: { readonly versions: readonly SourceVersion[] }) {
  return (
    <section className="panel" aria-label="Versions">
      <h2>Versions</h2>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Of</th>
            <th scope="col">Version</th>
          </tr>
        </thead>
        <tbody>
          {versions.map(({ of, version }) => (
            <tr key={of}>
              <th scope="row">{of}</th>
              <td>{version}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
