//! What the firmware says of the machine, as far as we may read it.

use std::path::Path;

use fx_host::Look;

use crate::text::read;

const NAMES: [&str; 18] = [
    "bios_date",
    "bios_release",
    "bios_vendor",
    "bios_version",
    "board_asset_tag",
    "board_name",
    "board_serial",
    "board_vendor",
    "chassis_asset_tag",
    "chassis_serial",
    "chassis_type",
    "chassis_vendor",
    "product_family",
    "product_name",
    "product_serial",
    "product_uuid",
    "product_version",
    "sys_vendor",
];

pub(crate) fn probe(host: &dyn Look) -> Vec<(&'static str, String)> {
    let root = Path::new("/sys/class/dmi/id");
    let value = |name: &'static str| Some((name, read(host, root.join(name))?.trim().to_owned()));
    NAMES.into_iter().filter_map(value).filter(|(_, value)| !value.is_empty()).collect()
}
