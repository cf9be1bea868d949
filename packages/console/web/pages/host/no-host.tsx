import { Empty } from '../../components/empty.tsx'
import { PageHead } from '../../components/page-head.tsx'

/** The page of the host where no source reads the machine. */
export function NoHost({ parent }: { readonly parent: { readonly label: string; readonly href: string } }) {
  return (
    <>
      <PageHead title="Host" parent={parent} note="" />
      <Empty fact="The machine itself is not read here.">
        No source <code>host</code> runs, as with <code>sonde up --only-simulated</code>, which shows the simulated node
        alone. Start <code>sonde up</code> without it, or add the source <code>host</code> to <code>data_sources</code>{' '}
        of the configuration.
      </Empty>
    </>
  )
}
