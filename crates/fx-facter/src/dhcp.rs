//! The server an interface has its address from, by the lease files of the clients. Clients
//! that would have to be asked by a command are not.

use fx_host::Look;

use super::read;

/// Where dhclient keeps its leases, in the order they are looked at.
const DIRS: [&str; 5] =
    ["/var/lib/dhclient", "/var/lib/dhcp", "/var/lib/dhcp3", "/var/lib/NetworkManager", "/var/db"];

pub(super) fn server(host: &dyn Look, interface: &str) -> Option<String> {
    systemd(host, interface)
        .or_else(|| dhclient(host, interface))
        .or_else(|| network_manager(host, interface))
}

fn systemd(host: &dyn Look, interface: &str) -> Option<String> {
    let index = read(host, &format!("/sys/class/net/{interface}/ifindex"))?;
    server_address(&read(host, &format!("/run/systemd/netif/leases/{index}"))?)
}

fn server_address(lease: &str) -> Option<String> {
    lease.lines().find_map(|line| Some(line.split_once("SERVER_ADDRESS=")?.1.to_owned()))
}

fn dhclient(host: &dyn Look, interface: &str) -> Option<String> {
    DIRS.iter().find_map(|dir| {
        names(host, dir)
            .filter(|name| {
                name.split_once("dhclient").is_some_and(|(_, rest)| rest.contains(".lease"))
            })
            .filter_map(|name| read(host, &format!("{dir}/{name}")))
            .filter(|lease| {
                lease.lines().any(|line| {
                    line.split_once("interface").is_some_and(|(_, rest)| rest.contains(interface))
                })
            })
            .find_map(|lease| {
                let (_, rest) = lease.split_once("dhcp-server-identifier ")?;
                let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
                Some(rest[..end].to_owned())
            })
    })
}

fn network_manager(host: &dyn Look, interface: &str) -> Option<String> {
    const DIR: &str = "/var/lib/NetworkManager";
    let end = format!("{interface}.lease");
    let name = names(host, DIR)
        .find(|name| name.split_once("internal").is_some_and(|(_, rest)| rest.contains(&end)))?;
    server_address(&read(host, &format!("{DIR}/{name}"))?)
}

fn names(host: &dyn Look, dir: &str) -> impl Iterator<Item = String> {
    let entries = host.list(dir.as_ref()).unwrap_or_default();
    entries.into_iter().map(|entry| entry.name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use fx_host::MemoryHost;

    use super::*;

    #[test]
    fn each_client_has_its_own_place() {
        let host = MemoryHost::linux();
        assert_eq!(server(&host, "eth0"), None);
        host.put(
            "/var/lib/NetworkManager/internal-1b-eth0.lease",
            "ADDRESS=10.0.0.5\nSERVER_ADDRESS=10.0.0.3\n",
        );
        assert_eq!(server(&host, "eth0").as_deref(), Some("10.0.0.3"));
        host.put(
            "/var/lib/dhcp/dhclient.eth0.leases",
            "lease {\n  interface \"eth0\";\n  option dhcp-server-identifier 10.0.0.2;\n}\n",
        );
        assert_eq!(server(&host, "eth0").as_deref(), Some("10.0.0.2"));
        host.put("/sys/class/net/eth0/ifindex", "2\n");
        host.put("/run/systemd/netif/leases/2", "# own\nSERVER_ADDRESS=10.0.0.1\n");
        assert_eq!(server(&host, "eth0").as_deref(), Some("10.0.0.1"));
        assert_eq!(server(&host, "eth1"), None);
    }
}
